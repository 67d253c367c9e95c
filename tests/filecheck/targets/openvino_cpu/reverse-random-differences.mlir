// RUN: moir-opt %s -p reverse-random-differences --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @subtracted
// CHECK:           %[[U:.*]] = opset8.RandomUniform
// CHECK-NEXT:      %[[L:.*]] = opset1.Log(%[[U]])
// CHECK-NEXT:      %[[D:.*]] = opset1.Subtract(%[[L]], %x)
// CHECK-NEXT:      opset1.Negative(%[[D]]) {name = "difference"}
builtin.module {
  moir.model @subtracted {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %u = opset8.RandomUniform(%s, %low, %high) {output_type = f32, global_seed = 0, op_seed = 0} : tensor<4xf32>
    %1 = opset1.Log(%u) : tensor<4xf32>
    %2 = opset1.Subtract(%x, %1) {name = "difference"} : tensor<4xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Sums with a negated term.
// CHECK-LABEL: moir.model @negated
// CHECK:           %[[U:.*]] = opset8.RandomUniform
// CHECK:           opset1.Subtract(%[[U]], %x)
// CHECK:           opset1.Subtract(%[[U]], %x)
// CHECK-NOT:       opset1.Add
builtin.module {
  moir.model @negated {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %minus = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %u = opset8.RandomUniform(%s, %low, %high) {output_type = f32, global_seed = 0, op_seed = 0} : tensor<4xf32>
    %1 = opset1.Negative(%u) : tensor<4xf32>
    %2 = opset1.Add(%x, %1) : tensor<4xf32>
    %3 = opset1.Multiply(%u, %minus) : tensor<4xf32>
    %4 = opset1.Add(%3, %x) : tensor<4xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}

// -----

// What is subtracted from random numbers stays. Random numbers whose shape is an input's are constants for the runtime,
// too, if the shape is static.
// CHECK-LABEL: moir.model @shapes
// CHECK:           opset1.Subtract(%u, %x)
// CHECK:           %[[D:.*]] = opset1.Subtract(%v, %x)
// CHECK-NEXT:      opset1.Negative(%[[D]])
builtin.module {
  moir.model @shapes {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %u = opset8.RandomUniform(%s, %low, %high) {output_type = f32, global_seed = 0, op_seed = 0} : tensor<4xf32>
    %1 = opset1.Subtract(%u, %x) : tensor<4xf32>
    %t = opset3.ShapeOf(%x) : tensor<1xsi64>
    %v = opset8.RandomUniform(%t, %low, %high) {output_type = f32, global_seed = 0, op_seed = 0} : tensor<4xf32>
    %2 = opset1.Subtract(%x, %v) : tensor<4xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// Both terms are random.
// CHECK-LABEL: moir.model @both
// CHECK-NOT:       opset1.Subtract
// CHECK:           %[[S:[0-9]+]] = opset1.Add
// CHECK:           opset1.Multiply(%[[S]], %{{[0-9]+}}) {name = "difference"}
builtin.module {
  moir.model @both {
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %u = opset8.RandomUniform(%s, %low, %high) {output_type = f32, global_seed = 0, op_seed = 0} : tensor<4xf32>
    %1 = opset1.Log(%u) : tensor<4xf32>
    %2 = opset1.Subtract(%u, %1) {name = "difference"} : tensor<4xf32>
    opset1.Result(%2) {name = "y"}
  }
}
