// RUN: moir-opt %s -p "fold-constants,eliminate-dead" | filecheck %s

// Weights in half precision stay so; a single number is folded.
// CHECK-LABEL: moir.model @half
// CHECK:         opset1.Convert(%{{.*}}) {destination_type = f32, name = "w", runtime_info = {decompression = {version = "0"}}}
// CHECK-NOT:     opset1.Convert
// CHECK:         opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>, name = "s"
builtin.module {
  moir.model @half {
    %0 = opset1.Constant() {value = #moir.data<tensor<2xf16>, [1.0, 2.0]>} : tensor<2xf16>
    %w = opset1.Convert(%0) {destination_type = f32, name = "w", runtime_info = {decompression = {version = "0"}}} : tensor<2xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f16>, [0.5]>} : tensor<f16>
    %s = opset1.Convert(%1) {destination_type = f32, name = "s", runtime_info = {decompression = {version = "0"}}} : tensor<f32>
    opset1.Result(%w) {name = "y"}
    opset1.Result(%s) {name = "z"}
  }
}
