// RUN: moir-opt %s -p keep-reduced-dimensions --split-input-file | filecheck %s

// [4, 2] has no size of 1 at the reduced axis.
// CHECK-LABEL: moir.model @reshaped
// CHECK:         %[[R:.*]] = opset1.ReduceSum(%x, %{{.*}}) {keep_dims = true} : tensor<2x1x4xf32>
// CHECK:         opset1.Reshape(%[[R]], %{{.*}}) {{.*}} : tensor<8x1xf32>
// CHECK:         opset1.ReduceSum(%x, %a) : tensor<2x4xf32>
// CHECK-NEXT:    opset1.Reshape({{.*}} : tensor<4x2xf32>
// CHECK:         %[[T:.*]] = opset1.ReduceMax(%v, %{{.*}}) {keep_dims = true} : tensor<2x1x1x5xf32>
// CHECK:         opset1.Reshape(%[[T]], %{{.*}}) {{.*}} : tensor<2x5x1xf32>
builtin.module {
  moir.model @reshaped {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x4xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<2x1x4x5xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %column = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [8, 1]>} : tensor<2xsi64>
    %other = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, 2]>} : tensor<2xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %0 = opset1.ReduceSum(%x, %a) {keep_dims = false} : tensor<2x4xf32>
    %1 = opset1.Reshape(%0, %column) {special_zero = false} : tensor<8x1xf32>
    %2 = opset1.ReduceSum(%x, %a) {keep_dims = false} : tensor<2x4xf32>
    %3 = opset1.Reshape(%2, %other) {special_zero = false} : tensor<4x2xf32>
    %4 = opset1.Transpose(%v, %order) : tensor<2x5x1x4xf32>
    %5 = opset1.ReduceMax(%4, %b) {keep_dims = false} : tensor<2x5x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
    opset1.Result(%5) {name = "c"}
  }
}

// -----

// Both Transposes together only move dimensions of size 1; the first one may stand before elementwise operations.
// CHECK-LABEL: moir.model @between_transposes
// CHECK:         %[[A:.*]] = opset1.ReduceMax(%{{.*}}, %last) {keep_dims = true} : tensor<4x1x2x1xf32>
// CHECK:         opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 0, 2, 3]>} : tensor<4xsi64>
// CHECK-NEXT:    %[[B:.*]] = opset1.Transpose(%[[A]], %{{.*}}) : tensor<1x4x2x1xf32>
// CHECK:         opset15.Squeeze(%[[B]], %{{.*}}) : tensor<1x4x2xf32>
builtin.module {
  moir.model @between_transposes {
    %x = opset1.Parameter() {name = "x"} : tensor<1x4x1x2xf32>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 2, 3, 0]>} : tensor<4xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %back = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 0, 2]>} : tensor<3xsi64>
    %0 = opset1.Transpose(%x, %order) : tensor<4x1x2x1xf32>
    %1 = opset1.Relu(%0) : tensor<4x1x2x1xf32>
    %2 = opset1.ReduceMax(%1, %last) {keep_dims = false} : tensor<4x1x2xf32>
    %3 = opset1.Transpose(%2, %back) : tensor<1x4x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// The same sizes without those of 1 do not say that a Transpose moves nothing else.
// CHECK-LABEL: moir.model @equal_sizes
// CHECK:         opset1.ReduceSum(%x, %{{.*}}) : tensor<2x2x1xf32>
// CHECK:         opset1.Transpose({{.*}} : tensor<1x2x2xf32>
builtin.module {
  moir.model @equal_sizes {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2x2x1xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 1, 0]>} : tensor<3xsi64>
    %0 = opset1.ReduceSum(%x, %axis) {keep_dims = false} : tensor<2x2x1xf32>
    %1 = opset1.Transpose(%0, %order) : tensor<1x2x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Of several dynamic dimensions.
// CHECK-LABEL: moir.model @dynamic
// CHECK:         %[[R:.*]] = opset1.ReduceSum(%{{.*}}, %axis) {keep_dims = true} : tensor<?x1x?x1xf32>
// CHECK:         opset15.Squeeze(%[[R]], %{{.*}}) : tensor<?x?x1xf32>
builtin.module {
  moir.model @dynamic {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x?x?xf32>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %0 = opset1.Transpose(%x, %order) : tensor<?x?x?x1xf32>
    %1 = opset1.ReduceSum(%0, %axis) {keep_dims = false} : tensor<?x?x1xf32>
    opset1.Result(%1) {name = "y"}
  }
}
