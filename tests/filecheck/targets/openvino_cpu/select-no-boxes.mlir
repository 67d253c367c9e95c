// RUN: moir-opt %s -p select-no-boxes --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @none
// CHECK-NOT:       NonMaxSuppression
// CHECK-DAG:       opset1.Constant() {value = #moir.data<tensor<0x3xsi32>, []>{{.*}}} : tensor<0x3xsi32>
// CHECK-DAG:       opset1.Constant() {value = #moir.data<tensor<1xsi32>, [0]>{{.*}}} : tensor<1xsi32>
builtin.module {
  moir.model @none {
    %boxes = opset1.Parameter() {name = "boxes"} : tensor<1x5x4xf32>
    %scores = opset1.Parameter() {name = "scores"} : tensor<1x1x5xf32>
    %limit = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %1, %2, %3 = opset9.NonMaxSuppression(%boxes, %scores, %limit) {output_type = si32} : tensor<?x3xsi32>, tensor<?x3xf32>, tensor<1xsi32>
    opset1.Result(%1) {name = "rows"}
    opset1.Result(%3) {name = "count"}
  }
}

// -----

// CHECK-LABEL: moir.model @one
// CHECK:           opset9.NonMaxSuppression
builtin.module {
  moir.model @one {
    %boxes = opset1.Parameter() {name = "boxes"} : tensor<1x5x4xf32>
    %scores = opset1.Parameter() {name = "scores"} : tensor<1x1x5xf32>
    %limit = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1, %2, %3 = opset9.NonMaxSuppression(%boxes, %scores, %limit) {output_type = si32} : tensor<?x3xsi32>, tensor<?x3xf32>, tensor<1xsi32>
    opset1.Result(%1) {name = "rows"}
  }
}
