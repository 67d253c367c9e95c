// RUN: moir-opt %s -p transpose-weights,eliminate-dead --split-input-file | filecheck %s

// All products by a constant have its transposed form; the constant keeps the name of the node, but not of the tensor.
// CHECK-LABEL: moir.model @shared
// CHECK-NEXT:      %x = opset1.Parameter
// CHECK-NEXT:      %w = opset1.Constant() {value = #moir.data<tensor<3x2xf32>, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]>, name = "w"}
// CHECK-NEXT:      %0 = opset1.MatMul(%x, %w) {transpose_b = true} : tensor<?x3xf32>
// CHECK-NEXT:      %1 = opset1.MatMul(%x, %w) {transpose_a = true, transpose_b = true, name = "y"} : tensor<2x3xf32>
builtin.module {
  moir.model @shared {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>, name = "w", tensor_names = [["w"]]} : tensor<2x3xf32>
    %1 = opset1.MatMul(%x, %w) : tensor<?x3xf32>
    %2 = opset1.MatMul(%x, %w) {transpose_a = true, name = "y"} : tensor<2x3xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}

// -----

// Weights that are stored in half precision, with the mark of that.
// CHECK-LABEL: moir.model @stored
// CHECK:           %w = opset1.Constant() {value = #moir.data<tensor<3x2xf16>, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]>}
// CHECK-NEXT:      %c = opset1.Convert(%w) {destination_type = f32, runtime_info = {decompression = true}} : tensor<3x2xf32>
// CHECK-NEXT:      %0 = opset1.MatMul(%x, %c) {transpose_b = true}
builtin.module {
  moir.model @stored {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xf16>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf16>
    %c = opset1.Convert(%w) {destination_type = f32, runtime_info = {decompression = true}} : tensor<2x3xf32>
    %1 = opset1.MatMul(%x, %c) : tensor<?x3xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Weights that others have as they are, would be stored twice; without a known rank the plugin has no use for another order;
// the left operand, batches and integers are not weights of rows.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       transpose_b
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %u = opset1.Parameter() {name = "u"} : tensor<*xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<3x2xsi32>
    %r = opset1.Parameter() {name = "r"} : tensor<?xsi64>
    %table = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]>} : tensor<2x3xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<2x3xsi32>, [1, 2, 3, 4, 5, 7]>} : tensor<2x3xsi32>
    %b = opset1.Constant() {value = #moir.data<tensor<2x2x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2x1xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %rows = opset8.Gather(%table, %r, %axis) {batch_dims = 0} : tensor<?x3xf32>
    %1 = opset1.MatMul(%x, %table) : tensor<?x3xf32>
    %2 = opset1.MatMul(%u, %w) : tensor<*xf32>
    %3 = opset1.MatMul(%i, %n) : tensor<3x3xsi32>
    %4 = opset1.MatMul(%w, %rows) : tensor<2x3xf32>
    %5 = opset1.MatMul(%x, %b) : tensor<2x?x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
    opset1.Result(%4) {name = "d"}
    opset1.Result(%5) {name = "e"}
  }
}
