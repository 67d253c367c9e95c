// RUN: moir-opt %s -p fuse-mvn,eliminate-dead | filecheck %s

// Epsilon under the root.
// CHECK-LABEL: moir.model @inside {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset6.MVN(%[[V0]], %[[V1]]) {eps = 9.999999747378752e-06, normalize_variance = true, eps_mode = "INSIDE_SQRT", name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// Epsilon after the root.
// CHECK-LABEL: moir.model @outside {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset6.MVN(%[[V0]], %[[V1]]) {eps = 0.0010000000474974513, normalize_variance = true, eps_mode = "OUTSIDE_SQRT", name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// The variance is along other axes.
// CHECK-LABEL: moir.model @other_axes {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset1.ReduceMean(%[[V0]], %[[V1]]) {keep_dims = true} : tensor<?x1xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Subtract(%[[V0]], %[[V2]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Power(%[[V3]], %[[V4]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V6:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V7:.*]] = opset1.ReduceMean(%[[V5]], %[[V6]]) {keep_dims = true} : tensor<1x8xf32>
// CHECK-NEXT:    %[[V8:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-05]>} : tensor<f32>
// CHECK-NEXT:    %[[V9:.*]] = opset1.Add(%[[V7]], %[[V8]]) : tensor<1x8xf32>
// CHECK-NEXT:    %[[V10:.*]] = opset1.Sqrt(%[[V9]]) : tensor<1x8xf32>
// CHECK-NEXT:    %[[V11:.*]] = opset1.Divide(%[[V3]], %[[V10]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V11]]) {name = "y"}
// CHECK-NEXT:  }

// Several values of epsilon.
// CHECK-LABEL: moir.model @epsilon_of_each_column {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset1.ReduceMean(%[[V0]], %[[V1]]) {keep_dims = true} : tensor<?x1xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Subtract(%[[V0]], %[[V2]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Power(%[[V3]], %[[V4]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V6:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V7:.*]] = opset1.ReduceMean(%[[V5]], %[[V6]]) {keep_dims = true} : tensor<?x1xf32>
// CHECK-NEXT:    %[[V8:.*]] = opset1.Constant() {value = #moir.data<tensor<8xf32>, [1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05]>} : tensor<8xf32>
// CHECK-NEXT:    %[[V9:.*]] = opset1.Add(%[[V7]], %[[V8]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V10:.*]] = opset1.Sqrt(%[[V9]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V11:.*]] = opset1.Divide(%[[V3]], %[[V10]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V11]]) {name = "y"}
// CHECK-NEXT:  }

// As Keras writes it: the scale in front, the mean negated.
// CHECK-LABEL: moir.model @negated_mean {
// CHECK:         %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK:         %[[N:.*]] = opset6.MVN(%[[X]], %{{.*}}) {eps = 9.999999747378752e-06, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
// CHECK:         %[[M:.*]] = opset1.Multiply(%[[N]], %[[SCALE:.*]]) : tensor<?x8xf32>
// CHECK:         opset1.Add(%[[M]], %[[SHIFT:.*]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result

// The same without a shift.
// CHECK-LABEL: moir.model @unshifted {
// CHECK:         %[[N:.*]] = opset6.MVN(%x, %{{.*}}) {eps = 9.999999747378752e-06, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
// CHECK:         opset1.Multiply(%[[N]], %[[SCALE:.*]]) {name = "fused"} : tensor<?x8xf32>

// The axes of the variance are those of the mean, counted from the other end; scalars become vectors.
// CHECK-LABEL: moir.model @axes_from_either_end
// CHECK:         opset6.MVN(%{{.*}}, %{{.*}}) {{.*}} : tensor<2x3x4xf32>
// CHECK:         %[[A:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
// CHECK:         opset6.MVN(%{{.*}}, %[[A]]) {{.*}} : tensor<2x3x4xf32>

builtin.module {
  moir.model @inside {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %2 = opset1.ReduceMean(%0, %1) {keep_dims = true} : tensor<?x1xf32>
    %3 = opset1.Subtract(%0, %2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %5 = opset1.Power(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %7 = opset1.ReduceMean(%5, %6) {keep_dims = true} : tensor<?x1xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-05]>} : tensor<f32>
    %9 = opset1.Add(%7, %8) : tensor<?x1xf32>
    %10 = opset1.Sqrt(%9) : tensor<?x1xf32>
    %11 = opset1.Divide(%3, %10) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%11) {name = "y"}
  }
  moir.model @outside {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %2 = opset1.ReduceMean(%0, %1) {keep_dims = true} : tensor<?x1xf32>
    %3 = opset1.Subtract(%0, %2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %5 = opset1.ReduceMean(%0, %4) {keep_dims = true} : tensor<?x1xf32>
    %6 = opset1.SquaredDifference(%0, %5) : tensor<?x8xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %8 = opset1.ReduceMean(%6, %7) {keep_dims = true} : tensor<?x1xf32>
    %9 = opset1.Sqrt(%8) : tensor<?x1xf32>
    %10 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.001]>} : tensor<f32>
    %11 = opset1.Add(%9, %10) : tensor<?x1xf32>
    %12 = opset1.Divide(%3, %11) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%12) {name = "y"}
  }
  moir.model @other_axes {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %2 = opset1.ReduceMean(%0, %1) {keep_dims = true} : tensor<?x1xf32>
    %3 = opset1.Subtract(%0, %2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %5 = opset1.Power(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %7 = opset1.ReduceMean(%5, %6) {keep_dims = true} : tensor<1x8xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-05]>} : tensor<f32>
    %9 = opset1.Add(%7, %8) : tensor<1x8xf32>
    %10 = opset1.Sqrt(%9) : tensor<1x8xf32>
    %11 = opset1.Divide(%3, %10) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%11) {name = "y"}
  }
  moir.model @epsilon_of_each_column {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %2 = opset1.ReduceMean(%0, %1) {keep_dims = true} : tensor<?x1xf32>
    %3 = opset1.Subtract(%0, %2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %5 = opset1.Power(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %7 = opset1.ReduceMean(%5, %6) {keep_dims = true} : tensor<?x1xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<8xf32>, [1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05, 1.0e-05]>} : tensor<8xf32>
    %9 = opset1.Add(%7, %8) : tensor<?x8xf32>
    %10 = opset1.Sqrt(%9) : tensor<?x8xf32>
    %11 = opset1.Divide(%3, %10) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%11) {name = "y"}
  }
  moir.model @negated_mean {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Parameter() {name = "scale"} : tensor<8xf32>
    %2 = opset1.Parameter() {name = "shift"} : tensor<8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %4 = opset1.ReduceMean(%0, %3) {keep_dims = true} : tensor<?x1xf32>
    %5 = opset1.SquaredDifference(%0, %4) : tensor<?x8xf32>
    %6 = opset1.ReduceMean(%5, %3) {keep_dims = true} : tensor<?x1xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-05]>} : tensor<f32>
    %8 = opset1.Add(%6, %7) : tensor<?x1xf32>
    %9 = opset1.Constant() {value = #moir.data<tensor<f32>, [-0.5]>} : tensor<f32>
    %10 = opset1.Power(%8, %9) : tensor<?x1xf32>
    %11 = opset1.Multiply(%10, %1) : tensor<?x8xf32>
    %12 = opset1.Multiply(%0, %11) : tensor<?x8xf32>
    %13 = opset1.Negative(%4) : tensor<?x1xf32>
    %14 = opset1.Multiply(%13, %11) : tensor<?x8xf32>
    %15 = opset1.Add(%14, %2) : tensor<?x8xf32>
    %16 = opset1.Add(%12, %15) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%16) {name = "y"}
  }
  moir.model @unshifted {
    %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %eps = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-05]>} : tensor<f32>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [-0.5]>} : tensor<f32>
    %scale = opset1.Constant() {value = #moir.data<tensor<8xf32>, elided "scale">} : tensor<8xf32>
    %mean = opset1.ReduceMean(%x, %axes) {keep_dims = true} : tensor<?x1xf32>
    %square = opset1.SquaredDifference(%x, %mean) : tensor<?x8xf32>
    %variance = opset1.ReduceMean(%square, %axes) {keep_dims = true} : tensor<?x1xf32>
    %1 = opset1.Add(%variance, %eps) : tensor<?x1xf32>
    %2 = opset1.Power(%1, %half) : tensor<?x1xf32>
    %factor = opset1.Multiply(%2, %scale) : tensor<?x8xf32>
    %3 = opset1.Multiply(%x, %factor) : tensor<?x8xf32>
    %4 = opset1.Multiply(%mean, %factor) : tensor<?x8xf32>
    %5 = opset1.Subtract(%3, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @axes_from_either_end {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x4xf32>
    %eps = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-05]>} : tensor<f32>
    %a = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 1]>} : tensor<2xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %0 = opset1.ReduceMean(%x, %a) {keep_dims = true} : tensor<2x1x1xf32>
    %1 = opset1.Subtract(%x, %0) : tensor<2x3x4xf32>
    %2 = opset1.Multiply(%1, %1) : tensor<2x3x4xf32>
    %3 = opset1.ReduceMean(%2, %b) {keep_dims = true} : tensor<2x1x1xf32>
    %4 = opset1.Add(%3, %eps) : tensor<2x1x1xf32>
    %5 = opset1.Sqrt(%4) : tensor<2x1x1xf32>
    %6 = opset1.Divide(%1, %5) : tensor<2x3x4xf32>
    opset1.Result(%6) {name = "y"}
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %d = opset1.Constant() {value = #moir.data<tensor<si64>, [-1]>} : tensor<si64>
    %7 = opset1.ReduceMean(%x, %c) {keep_dims = true} : tensor<2x3x1xf32>
    %8 = opset1.Subtract(%x, %7) : tensor<2x3x4xf32>
    %9 = opset1.Multiply(%8, %8) : tensor<2x3x4xf32>
    %10 = opset1.ReduceMean(%9, %d) {keep_dims = true} : tensor<2x3x1xf32>
    %11 = opset1.Add(%10, %eps) : tensor<2x3x1xf32>
    %12 = opset1.Sqrt(%11) : tensor<2x3x1xf32>
    %13 = opset1.Divide(%8, %12) : tensor<2x3x4xf32>
    opset1.Result(%13) {name = "z"}
  }
}
