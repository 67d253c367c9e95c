// RUN: moir-opt %s -p "lower-tflite,fuse-prelu,eliminate-dead" | filecheck %s

// Quantized slopes become numbers, so that PRelu takes them.
// CHECK-LABEL: moir.model @slopes
// CHECK:           %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<1x1x2xf32>, [0.5, -0.25]>}
// CHECK:           opset1.PRelu(%{{.*}}, %[[S]])
builtin.module {
  moir.model @slopes {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1x1x2xsi8>, [2, -1]>} : tensor<1x1x2xsi8>
    %an = tflite.dequantize(%a) {element = si8, scale = 0.25, zero_point = 0} : tensor<1x1x2xf32>
    %1 = tflite.PRELU(%x, %an) {name = "y"} : tensor<1x2x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}
