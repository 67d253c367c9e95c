// RUN: moir-opt %s -p "normalize-columns,eliminate-dead" | filecheck %s

// The plugin compiles the groups of matrices only if their sizes are known.

// CHECK-LABEL: moir.model @columns
// CHECK:           opset6.MVN(%{{.*}}, %{{.*}}) {eps = 0.5, normalize_variance = true, eps_mode = "INSIDE_SQRT"} : tensor<?x2x2xf32>
// CHECK-NEXT:      #moir.data<tensor<2xsi64>, [0, 4]>
// CHECK-NEXT:      opset1.Reshape(%{{.*}}, %{{.*}}) {special_zero = true, name = "of_batch"} : tensor<?x4xf32>
// CHECK:           #moir.data<tensor<2xsi64>, [0, -1]>
// CHECK-NEXT:      %[[BACK:.*]] = opset1.Reshape(%{{.*}}, %{{.*}}) {special_zero = true} : tensor<3x?xf32>
// CHECK:           opset1.Multiply(%[[BACK]], %{{.*}}) {name = "of_channels"}
// CHECK:           opset12.GroupNormalization(%w, %{{.*}}, %{{.*}}) {num_groups = 2, epsilon = 0.5}
builtin.module {
  moir.model @columns {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<3x?xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<3x4xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 1.0, 1.0, 1.0]>} : tensor<4xf32>
    %scale = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %shift = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.0, 0.0, 0.0, 0.0]>} : tensor<4xf32>
    %1 = opset12.GroupNormalization(%x, %one, %shift) {num_groups = 2, epsilon = 0.5, name = "of_batch"} : tensor<?x4xf32>
    opset1.Result(%1) {name = "batch"}
    %2 = opset12.GroupNormalization(%z, %scale, %shift) {num_groups = 2, epsilon = 0.5, name = "of_channels"} : tensor<3x?xf32>
    opset1.Result(%2) {name = "channels"}
    %3 = opset12.GroupNormalization(%w, %scale, %shift) {num_groups = 2, epsilon = 0.5} : tensor<3x4xf32>
    opset1.Result(%3) {name = "known"}
  }
}
