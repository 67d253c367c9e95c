// RUN: moir-opt %s -p lower-to-onnx --split-input-file | filecheck %s
// RUN: moir-opt %s -p 'lower-to-onnx{opset=17}' --split-input-file | filecheck %s --check-prefix=OLD

// An operation with a counterpart keeps its names; another one is composed, and the last operation has them.
// CHECK-LABEL: moir.model @compositions attributes {opset_import = {ai.onnx = 25 : i64}}
// CHECK:         %[[G:.*]] = onnx.Gelu(%{{.*}}) {approximate = "none", name = "gelu", tensor_names = ["g"]} : tensor<?x4xf32>
// CHECK-NEXT:    %[[S:.*]] = onnx.Sigmoid(%[[G]]) : tensor<?x4xf32>
// CHECK-NEXT:    onnx.Mul(%[[G]], %[[S]]) {name = "swish", tensor_names = ["s"]} : tensor<?x4xf32>
// Before version 20 there is no Gelu.
// OLD-LABEL:   moir.model @compositions attributes {opset_import = {ai.onnx = 17 : i64}}
// OLD-NOT:       onnx.Gelu
// OLD:           onnx.Erf
builtin.module {
  moir.model @compositions {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %g = opset7.Gelu(%x) {name = "gelu", tensor_names = ["g"]} : tensor<?x4xf32>
    %s = opset4.Swish(%g) {name = "swish", tensor_names = ["s"]} : tensor<?x4xf32>
    opset1.Result(%s) {name = "y"}
  }
}

// -----

// The axes of a mean are an attribute before version 18.
// CHECK-LABEL: moir.model @reduction
// CHECK:         %[[A:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>}
// CHECK:         onnx.ReduceMean(%{{.*}}, %[[A]]) {keepdims = 1, noop_with_empty_axes = 1}
// OLD-LABEL:   moir.model @reduction
// OLD:           onnx.ReduceMean(%{{.*}}) {axes = [1], keepdims = 1}
builtin.module {
  moir.model @reduction {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %m = opset1.ReduceMean(%x, %a) {keep_dims = true} : tensor<2x1xf32>
    opset1.Result(%m) {name = "y"}
  }
}

// -----

// Both branches have Parameters for all values that one of them uses.
// CHECK-LABEL: moir.model @branches
// CHECK:         onnx.If(%{{.*}}, %{{.*}}, %{{.*}}) {graph_attributes = ["then_branch", "else_branch"], captured = 2} ({
// CHECK-NEXT:      %{{.*}} = opset1.Parameter()
// CHECK-NEXT:      %[[Y:.*]] = opset1.Parameter()
// CHECK-NEXT:      onnx.Neg(%[[Y]])
builtin.module {
  moir.model @branches {
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2xf32>
    %r = opset8.If(%c, %x, %y) {then_inputs = [2], else_inputs = [1]} ({
      %p = opset1.Parameter() : tensor<2xf32>
      %n = opset1.Negative(%p) : tensor<2xf32>
      opset1.Result(%n)
    }, {
      %p = opset1.Parameter() : tensor<2xf32>
      %n = opset1.Abs(%p) : tensor<2xf32>
      opset1.Result(%n)
    }) : tensor<2xf32>
    opset1.Result(%r) {name = "r"}
  }
}

// -----

// A variable is an input and an output.
// CHECK-LABEL: moir.model @states
// CHECK:         %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK:         %[[S:.*]] = opset1.Parameter() {name = "sum", tensor_names = ["sum"]} : tensor<2xf32>
// CHECK:         %[[N:.*]] = onnx.Add(%[[S]], %[[X]])
// CHECK:         opset1.Result(%[[N]]) {name = "y"}
// CHECK:         opset1.Result(%[[N]]) {name = "sum.next"}
builtin.module {
  moir.model @states {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0.0, 0.0]>} : tensor<2xf32>
    %s = opset6.ReadValue(%i) {variable_id = "sum", variable_type = f32, variable_shape = "2"} : tensor<2xf32>
    %n = opset1.Add(%s, %x) : tensor<2xf32>
    %a = opset6.Assign(%n) {variable_id = "sum"} : tensor<2xf32>
    opset1.Result(%n) {name = "y"}
  }
}

// -----

// Integers of weights with a scale for each row are one DequantizeLinear; blocks need version 21.
// CHECK-LABEL: moir.model @weights
// CHECK:         onnx.DequantizeLinear(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 0, block_size = 2}
// OLD-LABEL:   moir.model @weights
// OLD:           onnx.Cast
// OLD:           onnx.Mul
builtin.module {
  moir.model @weights {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2x3xui8>, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]>} : tensor<2x2x3xui8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2x3xf32>
    %z = opset1.Constant() {value = #moir.data<tensor<1x2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<1x2x3xf32>
    %d = opset1.Subtract(%c, %z) : tensor<2x2x3xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2x3xf32>, [0.5, 0.5, 0.5, 0.25, 0.25, 0.25]>} : tensor<1x2x3xf32>
    %m = opset1.Multiply(%d, %s) : tensor<2x2x3xf32>
    %y = opset1.Add(%x, %m) : tensor<2x2x3xf32>
    opset1.Result(%y) {name = "y"}
  }
}
