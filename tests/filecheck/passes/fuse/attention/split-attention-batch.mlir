// RUN: moir-opt %s -p "split-attention-batch,eliminate-dead" --split-input-file | filecheck %s

// Windows with a mask for each and a bias for each head, from packed queries, keys and values.
// CHECK-LABEL: moir.model @windows
// CHECK:           %[[TARGET:.*]] = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [-1, 12, 49, 3, 3, 32]>}
// CHECK:           %[[PARTS:.*]] = opset1.Reshape(%x, %[[TARGET]])
// CHECK:           %[[ORDER:.*]] = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [3, 0, 1, 4, 2, 5]>}
// CHECK:           opset1.Transpose(%[[PARTS]], %[[ORDER]])
// CHECK:           %[[PRODUCT:.*]] = opset1.MatMul({{.*}}) {transpose_b = true} : tensor<?x12x3x49x49xf32>
// CHECK-NEXT:      %[[BIASED:.*]] = opset1.Add(%[[PRODUCT]], %bias)
// CHECK:           %[[MASKED:.*]] = opset1.Add(%[[BIASED]], %mask)
// CHECK-NEXT:      %[[WEIGHTS:.*]] = opset8.Softmax(%[[MASKED]]) {axis = -1}
// CHECK-NEXT:      %[[RESULT:.*]] = opset1.MatMul(%[[WEIGHTS]], {{.*}}) : tensor<?x12x3x49x32xf32>
// CHECK:           %[[MOVED:.*]] = opset1.Transpose(%[[RESULT]], {{.*}}) : tensor<?x12x49x3x32xf32>
// CHECK:           opset1.Reshape(%[[MOVED]], {{.*}}) {special_zero = false, name = "merged"} : tensor<?x49x96xf32>
builtin.module {
  moir.model @windows {
    %x = opset1.Parameter() {name = "x"} : tensor<?x49x288xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<1x3x49x49xf32>, elided "bias">} : tensor<1x3x49x49xf32>
    %mask = opset1.Constant() {value = #moir.data<tensor<1x12x1x49x49xf32>, elided "mask">} : tensor<1x12x1x49x49xf32>
    %parts = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 49, 3, 3, 32]>} : tensor<5xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [2, 0, 3, 1, 4]>} : tensor<5xsi64>
    %split = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [-1, 12, 3, 49, 49]>} : tensor<5xsi64>
    %merge = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [-1, 3, 49, 49]>} : tensor<4xsi64>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %flat = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 49, 96]>} : tensor<3xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %two = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %scale = opset1.Constant() {value = #moir.data<tensor<f32>, [0.176777]>} : tensor<f32>
    %0 = opset1.Reshape(%x, %parts) {special_zero = true} : tensor<?x49x3x3x32xf32>
    %1 = opset1.Transpose(%0, %order) : tensor<3x?x3x49x32xf32>
    %q = opset8.Gather(%1, %zero, %zero) : tensor<?x3x49x32xf32>
    %k = opset8.Gather(%1, %one, %zero) : tensor<?x3x49x32xf32>
    %v = opset8.Gather(%1, %two, %zero) : tensor<?x3x49x32xf32>
    %2 = opset1.Multiply(%q, %scale) : tensor<?x3x49x32xf32>
    %3 = opset1.MatMul(%2, %k) {transpose_b = true} : tensor<?x3x49x49xf32>
    %4 = opset1.Add(%3, %bias) : tensor<?x3x49x49xf32>
    %5 = opset1.Reshape(%4, %split) {special_zero = true} : tensor<?x12x3x49x49xf32>
    %6 = opset1.Add(%5, %mask) : tensor<?x12x3x49x49xf32>
    %7 = opset1.Reshape(%6, %merge) {special_zero = true} : tensor<?x3x49x49xf32>
    %8 = opset8.Softmax(%7) {axis = -1} : tensor<?x3x49x49xf32>
    %9 = opset1.MatMul(%8, %v) : tensor<?x3x49x32xf32>
    %10 = opset1.Transpose(%9, %heads) : tensor<?x49x3x32xf32>
    %11 = opset1.Reshape(%10, %flat) {special_zero = true, name = "merged"} : tensor<?x49x96xf32>
    opset1.Result(%11) {name = "y"}
  }
}

// -----

// A number of windows that is computed, values that another Reshape makes, and a result that nothing merges.
// CHECK-LABEL: moir.model @computed
// CHECK:           %[[VALUE:.*]] = opset1.Concat(%rest, %windows, {{.*}}) {axis = 0} : tensor<5xsi64>
// CHECK:           opset1.Reshape(%x, %[[VALUE]]) {special_zero = false}
// CHECK:           %[[RESULT:.*]] = opset1.MatMul({{.*}}) : tensor<?x?x2x4x8xf32>
// CHECK:           opset1.Reshape(%[[RESULT]], {{.*}}) {special_zero = false, name = "product"} : tensor<?x2x4x8xf32>
builtin.module {
  moir.model @computed {
    %x = opset1.Parameter() {name = "x", dimension_names = ["n", "", ""]} : tensor<?x4x16xf32>
    %z = opset1.Parameter() {name = "z", dimension_names = ["n", "", ""]} : tensor<?x4x16xf32>
    %mask = opset1.Parameter() {name = "mask"} : tensor<1x?x1x4x4xf32>
    %rest = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %sizes = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 4, 4]>} : tensor<3xsi64>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 4, 8]>} : tensor<4xsi64>
    %merge = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [-1, 2, 4, 4]>} : tensor<4xsi64>
    %shape = opset3.ShapeOf(%mask) : tensor<5xsi64>
    %windows = opset8.Gather(%shape, %one, %axis) : tensor<1xsi64>
    %split = opset1.Concat(%rest, %windows, %sizes) {axis = 0} : tensor<5xsi64>
    %q = opset1.Reshape(%x, %heads) {special_zero = true} : tensor<?x2x4x8xf32>
    %v = opset1.Reshape(%z, %heads) {special_zero = true} : tensor<?x2x4x8xf32>
    %0 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<?x2x4x4xf32>
    %1 = opset1.Reshape(%0, %split) {special_zero = false} : tensor<?x?x2x4x4xf32>
    %2 = opset1.Add(%mask, %1) : tensor<?x?x2x4x4xf32>
    %3 = opset1.Reshape(%2, %merge) {special_zero = false} : tensor<?x2x4x4xf32>
    %4 = opset8.Softmax(%3) {axis = 3} : tensor<?x2x4x4xf32>
    %5 = opset1.MatMul(%4, %v) {name = "product"} : tensor<?x2x4x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// Not when values could be broadcast, nor when the scores have another use.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset8.Softmax({{.*}}) {axis = -1} : tensor<?x2x4x4xf32>
// CHECK:           opset8.Softmax({{.*}}) {axis = -1} : tensor<?x2x4x4xf32>
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x16xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<?x4x16xf32>
    %mask = opset1.Parameter() {name = "mask"} : tensor<1x3x1x4x4xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 4, 8]>} : tensor<4xsi64>
    %split = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [-1, 3, 2, 4, 4]>} : tensor<5xsi64>
    %merge = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [-1, 2, 4, 4]>} : tensor<4xsi64>
    %q = opset1.Reshape(%x, %heads) {special_zero = true} : tensor<?x2x4x8xf32>
    %v = opset1.Reshape(%z, %heads) {special_zero = true} : tensor<?x2x4x8xf32>
    %0 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<?x2x4x4xf32>
    %1 = opset1.Reshape(%0, %split) {special_zero = false} : tensor<?x3x2x4x4xf32>
    %2 = opset1.Add(%1, %mask) : tensor<?x3x2x4x4xf32>
    %3 = opset1.Reshape(%2, %merge) {special_zero = false} : tensor<?x2x4x4xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<?x2x4x4xf32>
    %5 = opset1.MatMul(%4, %v) : tensor<?x2x4x8xf32>
    %6 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<?x2x4x4xf32>
    %7 = opset1.Reshape(%6, %split) {special_zero = false} : tensor<?x3x2x4x4xf32>
    %8 = opset1.Add(%7, %mask) : tensor<?x3x2x4x4xf32>
    %9 = opset1.Reshape(%8, %merge) {special_zero = false} : tensor<?x2x4x4xf32>
    %10 = opset8.Softmax(%9) {axis = -1} : tensor<?x2x4x4xf32>
    %11 = opset1.MatMul(%10, %q) : tensor<?x2x4x8xf32>
    opset1.Result(%5) {name = "y"}
    opset1.Result(%11) {name = "u"}
    opset1.Result(%6) {name = "scores"}
  }
}
