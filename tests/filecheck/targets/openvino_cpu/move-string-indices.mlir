// RUN: moir-opt %s -p move-string-indices --verify-each --split-input-file | filecheck %s

// Operations that move strings, but for Gather, Concat and Reshape: are refused, give other strings, or end the
// process.
// CHECK-LABEL: moir.model @moved_strings
// CHECK:           opset1.Tile(%5, %4) : tensor<4xsi32>
// CHECK:           opset8.Gather(%3, %7, %8) : tensor<4x!moir.string>
// CHECK:           opset15.StringTensorUnpack(%9) : tensor<4xsi32>, tensor<4xsi32>, tensor<?xui8>
builtin.module {
  moir.model @moved_strings {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2xsi32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<2xsi32>
    %2 = opset1.Parameter() {name = "x2"} : tensor<3xui8>
    %3 = opset15.StringTensorPack(%0, %1, %2) : tensor<2x!moir.string>
    %4 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %5 = opset1.Tile(%3, %4) : tensor<4x!moir.string>
    %6, %7, %8 = opset15.StringTensorUnpack(%5) : tensor<4xsi32>, tensor<4xsi32>, tensor<?xui8>
    opset1.Result(%8) {name = "y0"}
  }
}

// -----

// A Reshape by computed sizes, and one of a constant, move indices; one of computed strings by a constant stays.
// CHECK-LABEL: moir.model @reshaped_strings
// CHECK:           opset1.Reshape(%{{[0-9]+}}, %target) {special_zero = false} : tensor<?x?xsi32>
// CHECK:           opset8.Gather(%x, %{{[0-9]+}}, %{{[0-9]+}}) {name = "a"} : tensor<?x?x!moir.string>
// CHECK:           opset1.Reshape(%x, %{{[0-9]+}}) {special_zero = false, name = "b"} : tensor<3x1x!moir.string>
builtin.module {
  moir.model @reshaped_strings {
    %x = opset1.Parameter() {name = "x"} : tensor<3x!moir.string>
    %target = opset1.Parameter() {name = "target"} : tensor<2xsi64>
    %0 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 1]>} : tensor<2xsi64>
    %1 = opset1.Reshape(%x, %target) {special_zero = false, name = "a"} : tensor<?x?x!moir.string>
    %2 = opset1.Reshape(%x, %0) {special_zero = false, name = "b"} : tensor<3x1x!moir.string>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}
