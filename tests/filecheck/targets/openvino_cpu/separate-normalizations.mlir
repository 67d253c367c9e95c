// RUN: moir-opt %s -p separate-normalizations --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @residual
// CHECK:           %0 = opset1.Relu(%x) : tensor<2x4x8x8xf32>
// CHECK-NEXT:      %1 = opset12.GroupNormalization(%0, %scale, %scale) {num_groups = 2, epsilon = 0.1} : tensor<2x4x8x8xf32>
// CHECK-NEXT:      %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [0xFF800000]>} : tensor<f32>
// CHECK-NEXT:      %3 = opset1.Maximum(%2, %1) {name = "g"} : tensor<2x4x8x8xf32>
// CHECK-NEXT:      %4 = opset1.Add(%0, %3) : tensor<2x4x8x8xf32>
builtin.module {
  moir.model @residual {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4x8x8xf32>
    %scale = opset1.Parameter() {name = "scale"} : tensor<4xf32>
    %1 = opset1.Relu(%x) : tensor<2x4x8x8xf32>
    %2 = opset12.GroupNormalization(%1, %scale, %scale) {num_groups = 2, epsilon = 0.1, name = "g"} : tensor<2x4x8x8xf32>
    %3 = opset1.Add(%1, %2) : tensor<2x4x8x8xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// The variance loses its axis.
// CHECK-LABEL: moir.model @means
// CHECK:           %0 = opset1.ReduceMean(%x, %axes) {keep_dims = true} : tensor<?x1xf32>
// CHECK-NEXT:      %1 = opset1.Subtract(%x, %0) : tensor<?x?xf32>
// CHECK-NEXT:      %2 = opset1.Power(%1, %two) : tensor<?x?xf32>
// CHECK-NEXT:      %3 = opset1.ReduceMean(%2, %axes) : tensor<?xf32>
// CHECK-NEXT:      %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [0xFF800000]>} : tensor<f32>
// CHECK-NEXT:      %5 = opset1.Maximum(%4, %3) {name = "v"} : tensor<?xf32>
// CHECK-NEXT:      %6 = opset1.Add(%5, %eps) : tensor<?xf32>
// CHECK-NEXT:      %7 = opset1.Sqrt(%6) : tensor<?xf32>
// CHECK-NEXT:      %8 = opset1.Divide(%1, %7) : tensor<?x?xf32>
builtin.module {
  moir.model @means {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %eps = opset1.Constant() {value = #moir.data<tensor<f32>, [0.1]>} : tensor<f32>
    %1 = opset1.ReduceMean(%x, %axes) {keep_dims = true} : tensor<?x1xf32>
    %2 = opset1.Subtract(%x, %1) : tensor<?x?xf32>
    %3 = opset1.Power(%2, %two) : tensor<?x?xf32>
    %4 = opset1.ReduceMean(%3, %axes) {keep_dims = false, name = "v"} : tensor<?xf32>
    %5 = opset1.Add(%4, %eps) : tensor<?xf32>
    %6 = opset1.Sqrt(%5) : tensor<?xf32>
    %7 = opset1.Divide(%2, %6) : tensor<?x?xf32>
    opset1.Result(%7) {name = "y"}
  }
}

// -----

// A normalization with a constant behind it, and one that is an MVN.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Maximum
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4x8x8xf32>
    %scale = opset1.Parameter() {name = "scale"} : tensor<4xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-3]>} : tensor<1xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset12.GroupNormalization(%x, %scale, %scale) {num_groups = 2, epsilon = 0.1} : tensor<2x4x8x8xf32>
    %2 = opset1.Add(%1, %two) : tensor<2x4x8x8xf32>
    %3 = opset1.ReduceMean(%2, %axes) {keep_dims = true} : tensor<2x1x8x8xf32>
    %4 = opset1.Subtract(%2, %3) : tensor<2x4x8x8xf32>
    %5 = opset1.Power(%4, %two) : tensor<2x4x8x8xf32>
    %6 = opset1.ReduceMean(%5, %last) {keep_dims = true} : tensor<2x1x8x8xf32>
    %7 = opset1.Sqrt(%6) : tensor<2x1x8x8xf32>
    %8 = opset1.Divide(%4, %7) : tensor<2x4x8x8xf32>
    opset1.Result(%8) {name = "y"}
  }
}

// -----

// The mean of squares does not keep its axis; one that keeps it is an RMS normalization.
// CHECK-LABEL: moir.model @root
// CHECK:         %[[M:.*]] = opset1.ReduceMean(%{{.*}}, %a) : tensor<4x4xf32>
// CHECK:         opset1.Maximum(%{{.*}}, %[[M]])
// CHECK:         %[[K:.*]] = opset1.ReduceMean(%{{.*}}, %a) {keep_dims = true}
// CHECK-NEXT:    opset1.Sqrt(%[[K]])
builtin.module {
  moir.model @root {
    %x = opset1.Parameter() {name = "x"} : tensor<4x4x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %0 = opset1.Power(%x, %two) : tensor<4x4x4xf32>
    %1 = opset1.ReduceMean(%0, %a) {keep_dims = false} : tensor<4x4xf32>
    %2 = opset1.Sqrt(%1) : tensor<4x4xf32>
    %3 = opset1.Divide(%x, %2) : tensor<4x4x4xf32>
    %4 = opset1.ReduceMean(%0, %a) {keep_dims = true} : tensor<4x4x1xf32>
    %5 = opset1.Sqrt(%4) : tensor<4x4x1xf32>
    %6 = opset1.Divide(%x, %5) : tensor<4x4x4xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%6) {name = "z"}
  }
}

// -----

// The shape is static only because of the constants.

// CHECK-LABEL: moir.model @broadcast
// CHECK:         %[[S:.*]] = opset1.Add(%x, %c)
// CHECK:         %[[L:.*]] = opset1.Reshape(%[[S]], %{{.*}}) {special_zero = false} : tensor<3x1x20xf32>
// CHECK:         %[[G:.*]] = opset12.GroupNormalization(%[[L]], %scale, %shift)
// CHECK:         opset1.Reshape(%[[G]], %{{.*}}) {special_zero = false} : tensor<3x1x5x4xf32>
// CHECK:         opset12.GroupNormalization(%y, %scale, %shift)
builtin.module {
  moir.model @broadcast {
    %x = opset1.Parameter() {name = "x"} : tensor<3x1x5x?xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<3x1x5x4xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %scale = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
    %shift = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.0]>} : tensor<1xf32>
    %1 = opset1.Add(%x, %c) : tensor<3x1x5x4xf32>
    %2 = opset12.GroupNormalization(%1, %scale, %shift) {num_groups = 1, epsilon = 1.0e-05} : tensor<3x1x5x4xf32>
    %3 = opset12.GroupNormalization(%y, %scale, %shift) {num_groups = 1, epsilon = 1.0e-05} : tensor<3x1x5x4xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%3) {name = "b"}
  }
}
