// RUN: moir-opt %s -p reduce-before-concat,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @parts
// CHECK:           [[A:%.*]] = opset1.ReduceMax(%x, %{{.*}}) : tensor<2xf32>
// CHECK-NEXT:      [[B:%.*]] = opset1.ReduceMax(%y, %{{.*}}) : tensor<2xf32>
// CHECK-NEXT:      %{{.*}} = opset1.Maximum([[A]], [[B]]) {name = "z"} : tensor<2xf32>
builtin.module {
  moir.model @parts {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2x1xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %1 = opset1.Concat(%x, %y) {axis = 1} : tensor<2x4xf32>
    %2 = opset1.ReduceMax(%1, %axis) {name = "z"} : tensor<2xf32>
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// Single elements, and another axis.
// CHECK-LABEL: moir.model @others
// CHECK:           opset1.Concat
// CHECK-NEXT:      opset1.ReduceMin
// CHECK:           opset1.Concat
// CHECK-NEXT:      opset1.ReduceMin
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<2x1xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2x1xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %first = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %1 = opset1.Concat(%x, %y) {axis = 1} : tensor<2x2xf32>
    %2 = opset1.ReduceMin(%1, %last) : tensor<2xf32>
    %3 = opset1.Concat(%x, %y) {axis = 0} : tensor<4x1xf32>
    %4 = opset1.ReduceMin(%3, %first) : tensor<4xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%4) {name = "b"}
  }
}
