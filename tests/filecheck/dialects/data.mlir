// RUN: moir-opt %s | moir-opt | filecheck %s

builtin.module {
  moir.model @values {
    %a = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, -0.0, 2.5e-07, 0x7FC00001]>} : tensor<2x2xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xf64>, [0x7FF0000000000000, 0.1]>} : tensor<2xf64>
    %c = opset1.Constant() {value = #moir.data<tensor<3xf16>, [0xFC00, 65504.0, 6.0e-08]>} : tensor<3xf16>
    %d = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-9223372036854775808, 9223372036854775807]>} : tensor<2xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<2xi1>, [true, false]>} : tensor<2xi1>
    %f = opset1.Constant() {value = #moir.data<tensor<3xui4>, [33, 3]>} : tensor<3xui4>
    %g = opset1.Constant() {value = #moir.data<tensor<2x!moir.string>, ["a \"b\"", "ä\0A"]>} : tensor<2x!moir.string>
    %h = opset1.Constant() {value = #moir.data<tensor<0xf32>, []>} : tensor<0xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<si32>, [7]>} : tensor<si32>
    %k = opset1.Constant() {value = #moir.data<tensor<4xf16>, [2, -3, 0x3C00, 0]>} : tensor<4xf16>
    %j = opset1.Constant() {value = #moir.data<tensor<64xf32>, elided "0123456789ab">} : tensor<64xf32>
  }
}

// CHECK: #moir.data<tensor<2x2xf32>, [1.0, -0.0, 2.5e-07, 0x7FC00001]>
// CHECK: #moir.data<tensor<2xf64>, [0x7FF0000000000000, 0.1]>
// CHECK: #moir.data<tensor<3xf16>, [0xFC00, {{6.55e.04|65500.0}}, 6.0e-08]>
// CHECK: #moir.data<tensor<2xsi64>, [-9223372036854775808, 9223372036854775807]>
// CHECK: #moir.data<tensor<2xi1>, [true, false]>
// CHECK: #moir.data<tensor<3xui4>, [33, 3]>
// CHECK: #moir.data<tensor<2x!moir.string>, ["a \22b\22", "\C3\A4\0A"]>
// CHECK: #moir.data<tensor<0xf32>, []>
// CHECK: #moir.data<tensor<si32>, [7]>
// CHECK: #moir.data<tensor<4xf16>, [2.0, -3.0, 1.0, 0.0]>
// CHECK: #moir.data<tensor<64xf32>, elided "0123456789ab">
