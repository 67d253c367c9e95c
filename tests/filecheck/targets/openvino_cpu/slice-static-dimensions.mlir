// RUN: moir-opt %s -p "slice-static-dimensions,eliminate-dead" --split-input-file | filecheck %s

// Adjacent sizes that are known, as a list and as a number.
// CHECK-LABEL: moir.model @known
// CHECK:           %[[S:.*]] = opset3.ShapeOf
// CHECK:           %[[B:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>}
// CHECK-NEXT:    %[[E:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>}
// CHECK-NEXT:    opset1.StridedSlice(%[[S]], %[[B]], %[[E]]) {{.*}} : tensor<2xsi64>
// CHECK:           opset1.StridedSlice(%[[S]], %{{.*}}, %{{.*}}) {{.*}}shrink_axis_mask = [1]{{.*}} : tensor<si64>
builtin.module {
  moir.model @known {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x32x48xf32>
    %s = opset3.ShapeOf(%x) : tensor<4xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %two = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<si64>, [-1]>} : tensor<si64>
    %0 = opset8.Gather(%s, %two, %zero) : tensor<2xsi64>
    %1 = opset8.Gather(%s, %last, %zero) : tensor<si64>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%1) {name = "z"}
  }
}

// -----

// Sizes that are unknown or in another order; the shape of a value of known sizes, which is computed as a whole.
// CHECK-LABEL: moir.model @kept
// CHECK-NOT:       opset1.StridedSlice
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x32x48xf32>
    %f = opset1.Parameter() {name = "f"} : tensor<1x3x32x48xf32>
    %s = opset3.ShapeOf(%x) : tensor<4xsi64>
    %t = opset3.ShapeOf(%f) : tensor<4xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %two = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 2]>} : tensor<2xsi64>
    %first = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>} : tensor<2xsi64>
    %0 = opset8.Gather(%s, %two, %zero) : tensor<2xsi64>
    %1 = opset8.Gather(%s, %first, %zero) : tensor<2xsi64>
    %2 = opset8.Gather(%t, %first, %zero) : tensor<2xsi64>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%1) {name = "z"}
    opset1.Result(%2) {name = "w"}
  }
}
