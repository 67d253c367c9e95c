// RUN: moir-opt %s -p compress-to-fp16 | filecheck %s

// A weight is stored in half precision behind a Convert the runtime knows as a decompression; one that overflows is kept.
// CHECK-LABEL: moir.model @weights
// CHECK:         %[[H:.*]] = opset1.Constant() {value = #moir.data<tensor<2xf16>, [1.0, 2.5]>, name = "w_compressed"}
// CHECK-NEXT:    %[[W:.*]] = opset1.Convert(%[[H]]) {destination_type = f32, {{.*}}runtime_info = {{.*}}decompression
// CHECK:         opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 100000.0]>, name = "large"}
// CHECK:         opset1.Multiply(%{{.*}}, %[[W]])
builtin.module {
  moir.model @weights {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.5]>, name = "w"} : tensor<2xf32>
    %l = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 100000.0]>, name = "large"} : tensor<2xf32>
    %m = opset1.Multiply(%x, %w) : tensor<2xf32>
    %n = opset1.Multiply(%m, %l) : tensor<2xf32>
    opset1.Result(%n) {name = "y"}
  }
}
