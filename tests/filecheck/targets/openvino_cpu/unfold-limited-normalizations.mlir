// RUN: env ONEDNN_MAX_CPU_ISA=AVX2 moir-opt %s -p unfold-limited-normalizations --split-input-file | filecheck %s

// Of five and of an unknown number of elements, not of sixteen.
// CHECK-LABEL: moir.model @limited
// CHECK:         %[[U:.*]] = opset1.Unsqueeze(%x, %{{.*}}) : tensor<1x1x2x5xf32>
// CHECK:         %[[M:.*]] = opset6.MVN(%[[U]], %{{.*}})
// CHECK:         opset15.Squeeze(%[[M]], %{{.*}}) : tensor<2x5xf32>
// CHECK:         %[[V:.*]] = opset1.Unsqueeze(%y, %{{.*}}) : tensor<1x2x3x?xf32>
// CHECK:         %[[N:.*]] = opset6.MVN(%[[V]], %{{.*}})
// CHECK:         opset15.Squeeze(%[[N]], %{{.*}}) : tensor<2x3x?xf32>
// CHECK:         opset6.MVN(%z, %last)
builtin.module {
  moir.model @limited {
    %x = opset1.Parameter() {name = "x"} : tensor<2x5xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2x3x?xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x4x16xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %end = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %0 = opset6.MVN(%x, %one) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<2x5xf32>
    %1 = opset6.MVN(%y, %end) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<2x3x?xf32>
    %2 = opset6.MVN(%z, %last) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<2x4x16xf32>
    opset1.Result(%0) {name = "a"}
    opset1.Result(%1) {name = "b"}
    opset1.Result(%2) {name = "c"}
  }
}

// -----

// The plugin goes over the elements of one channel after the other: 8 of each are no vector, 16 are.
// CHECK-LABEL: moir.model @across_channels
// CHECK:         %[[U:.*]] = opset1.Unsqueeze(%x, %{{.*}}) : tensor<1x1x3x4x8xf32>
// CHECK:         opset6.MVN(%[[U]], %{{.*}})
// CHECK:         opset6.MVN(%y, %axes)
builtin.module {
  moir.model @across_channels {
    %x = opset1.Parameter() {name = "x"} : tensor<3x4x8xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<3x4x16xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %0 = opset6.MVN(%x, %axes) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<3x4x8xf32>
    %1 = opset6.MVN(%y, %axes) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<3x4x16xf32>
    opset1.Result(%0) {name = "a"}
    opset1.Result(%1) {name = "b"}
  }
}

// -----

// CHECK-LABEL: moir.model @groups
// CHECK:         %[[G:.*]] = opset1.Reshape(%x, %{{.*}}) {special_zero = true} : tensor<2x2x1x14xf32>
// CHECK:         opset6.MVN(%[[G]], %{{.*}})
// CHECK:         opset12.GroupNormalization(%y, %scale, %shift)
builtin.module {
  moir.model @groups {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4x7xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2x4x32xf32>
    %scale = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 1.0, 1.0, 1.0]>} : tensor<4xf32>
    %shift = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.0, 0.0, 0.0, 0.0]>} : tensor<4xf32>
    %0 = opset12.GroupNormalization(%x, %scale, %shift) {num_groups = 2, epsilon = 0.001} : tensor<2x4x7xf32>
    %1 = opset12.GroupNormalization(%y, %scale, %shift) {num_groups = 2, epsilon = 0.001} : tensor<2x4x32xf32>
    opset1.Result(%0) {name = "a"}
    opset1.Result(%1) {name = "b"}
  }
}
