// RUN: moir-opt %s -p refuse-constant-boxes | filecheck %s

// CHECK-LABEL: moir.model @executed
builtin.module {
  moir.model @executed {
    %b = opset1.Parameter() {name = "b"} : tensor<1x1x4xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [0.5]>} : tensor<1x1x1xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %i, %j, %k = opset9.NonMaxSuppression(%b, %s, %n, %t, %t) {box_encoding = "corner", sort_result_descending = false, name = "nms"} : tensor<?x3xsi64>, tensor<?x3xf32>, tensor<1xsi64>
    opset1.Result(%i) {name = "out"}
  }
}
