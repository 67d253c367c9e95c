// RUN: moir-opt %s -p fuse-group-normalization,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: @channels_first
// CHECK-NOT:     opset6.MVN
// CHECK:         opset12.GroupNormalization(%x, %{{.*}}, %{{.*}}) {num_groups = 2, epsilon = 1.0e-05, name = "y"}
moir.model @channels_first {
  %x = opset1.Parameter() {name = "x"} : tensor<?x4x5x6xf32>
  %split = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, -1]>} : tensor<3xsi64>
  %whole = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 4, 5, 6]>} : tensor<4xsi64>
  %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
  %scale = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4x1x1xf32>
  %shift = opset1.Constant() {value = #moir.data<tensor<1x4x1x1xf32>, [4.0, 3.0, 2.0, 1.0]>} : tensor<1x4x1x1xf32>
  %1 = opset1.Reshape(%x, %split) {special_zero = true} : tensor<?x2x60xf32>
  %2 = opset6.MVN(%1, %axes) {eps = 1.0e-05, normalize_variance = true, eps_mode = "INSIDE_SQRT"} : tensor<?x2x60xf32>
  %3 = opset1.Reshape(%2, %whole) {special_zero = true} : tensor<?x4x5x6xf32>
  %4 = opset1.Multiply(%3, %scale) : tensor<?x4x5x6xf32>
  %5 = opset1.Add(%4, %shift) {name = "y"} : tensor<?x4x5x6xf32>
  opset1.Result(%5) {name = "y"}
}

// -----

// CHECK-LABEL: @channels_last
// CHECK:         %[[T:.*]] = opset1.Transpose(%x, %{{.*}}) : tensor<2x4x5x6xf32>
// CHECK:         opset12.GroupNormalization(%[[T]], %{{.*}}, %{{.*}}) {num_groups = 2, epsilon = 1.0e-05}
moir.model @channels_last {
  %x = opset1.Parameter() {name = "x"} : tensor<2x5x6x4xf32>
  %split = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [2, 5, 6, 2, 2]>} : tensor<5xsi64>
  %whole = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 5, 6, 4]>} : tensor<4xsi64>
  %axes = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 4]>} : tensor<3xsi64>
  %1 = opset1.Reshape(%x, %split) {special_zero = false} : tensor<2x5x6x2x2xf32>
  %2 = opset6.MVN(%1, %axes) {eps = 1.0e-05, normalize_variance = true, eps_mode = "INSIDE_SQRT"} : tensor<2x5x6x2x2xf32>
  %3 = opset1.Reshape(%2, %whole) {special_zero = false} : tensor<2x5x6x4xf32>
  opset1.Result(%3) {name = "y"}
}

// -----

// Groups of samples, and a normalization of each position.
// CHECK-LABEL: @others
// CHECK-NOT:     GroupNormalization
// CHECK:         opset1.Result
moir.model @others {
  %x = opset1.Parameter() {name = "x"} : tensor<2x5x6x4xf32>
  %split = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [2, 5, 6, 2, 2]>} : tensor<5xsi64>
  %whole = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 5, 6, 4]>} : tensor<4xsi64>
  %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
  %1 = opset1.Reshape(%x, %split) {special_zero = false} : tensor<2x5x6x2x2xf32>
  %2 = opset6.MVN(%1, %axes) {eps = 1.0e-05, normalize_variance = true, eps_mode = "INSIDE_SQRT"} : tensor<2x5x6x2x2xf32>
  %3 = opset1.Reshape(%2, %whole) {special_zero = false} : tensor<2x5x6x4xf32>
  opset1.Result(%3) {name = "y"}
}
