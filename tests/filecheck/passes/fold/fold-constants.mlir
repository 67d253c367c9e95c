// RUN: moir-opt %s -p "fold-constants,eliminate-dead" | filecheck %s
// RUN: moir-opt %s -p "fold-constants{static-shape=true},eliminate-dead" | filecheck %s --check-prefix=STATIC

// Operations on constants fold and keep their names. ShapeOf stays, static or not, unless static-shape is asked for.
// CHECK-LABEL: moir.model @folds
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:    %[[SUM:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, 6]>, name = "sum", tensor_names = ["s"]}
// CHECK-NEXT:    %[[SHAPE:.*]] = opset3.ShapeOf(%[[X]])
// CHECK-NEXT:    opset1.Result(%[[SUM]])
// CHECK-NEXT:    opset1.Result(%[[SHAPE]])

// STATIC-LABEL: moir.model @folds
// STATIC:         %[[SHAPE:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>, name = "shape"}
// STATIC-NOT:     ShapeOf
builtin.module {
  moir.model @folds {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 4]>} : tensor<2xsi64>
    %s = opset1.Add(%a, %b) {name = "sum", tensor_names = ["s"]} : tensor<2xsi64>
    %h = opset3.ShapeOf(%x) {output_type = si64, name = "shape"} : tensor<2xsi64>
    opset1.Result(%s) {name = "y"}
    opset1.Result(%h) {name = "z"}
  }
}
