// RUN: moir-opt %s -p lower-keras --split-input-file | filecheck %s

// CHECK-LABEL: @dense
moir.model @dense {
  %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
  %kernel = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
  %bias = opset1.Constant() {value = #moir.data<tensor<1xf32>, [3.0]>} : tensor<1xf32>
  // CHECK: opset1.MatMul(%x, %kernel)
  // CHECK-NEXT: opset1.Add
  // CHECK-NEXT: opset1.Relu(%{{.*}}) {name = "dense"
  %y = keras.Dense(%x, %kernel, %bias) {units = 1, activation = "relu", dtype = "float32", weight_names = ["0", "1"], name = "dense"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// A layer computes in the element type of its policy.
// CHECK-LABEL: @mixed
moir.model @mixed {
  %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
  // CHECK: opset1.Convert(%x) {destination_type = f16}
  // CHECK-NEXT: opset1.Relu
  // CHECK-SAME: tensor<?x2xf16>
  %y = keras.ReLU(%x) {dtype = "mixed_float16", name = "relu"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// Arguments of a call that are no tensors stand in their places.
// CHECK-LABEL: @arguments
moir.model @arguments {
  %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
  // CHECK: opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>
  // CHECK-NEXT: opset1.Subtract(%0, %x)
  %a = keras.ops.Subtract(%x) {arguments = [2, "%0"], name = "subtract"} : tensor<*x!moir.dynamic>
  // CHECK: opset8.Slice
  // CHECK: opset15.Squeeze
  // CHECK-SAME: tensor<?x3xf32>
  %y = keras.ops.GetItem(%a) {arguments = ["%0", [{slice = true}, 1]], name = "item"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// A mask makes a recurrent layer a loop over its steps.
// CHECK-LABEL: @masked
moir.model @masked {
  %x = opset1.Parameter() {name = "x"} : tensor<?x3x1xf32>
  %mask = opset1.Parameter() {name = "mask"} : tensor<?x3xi1>
  %kernel = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [1.0]>} : tensor<1x1xf32>
  // CHECK: opset1.TensorIterator
  // CHECK: opset1.Select
  %y = keras.SimpleRNN(%x, %mask, %kernel, %kernel) {units = 1, use_bias = false, keyword_arguments = {mask = "%1"}, dtype = "float32", weight_names = ["0", "1"], name = "rnn"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
