// RUN: moir-opt %s -p fuse-swish,eliminate-dead | filecheck %s

// x * sigmoid(x), in either order.
// CHECK-LABEL: moir.model @swish {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset4.Swish(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// A factor under the sigmoid is beta, which is a scalar whatever shape it had.
// CHECK-LABEL: moir.model @beta {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset4.Swish(%[[V0]], %[[V1]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// Several factors are no beta.
// CHECK-LABEL: moir.model @factor_of_each_column {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<8xf32>, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>} : tensor<8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Multiply(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Sigmoid(%[[V2]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Multiply(%[[V0]], %[[V3]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

// The factor gives the result another dimension.
// CHECK-LABEL: moir.model @other_rank {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.5]>} : tensor<1x1x1xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Multiply(%[[V0]], %[[V1]]) : tensor<1x?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Sigmoid(%[[V2]]) : tensor<1x?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Multiply(%[[V0]], %[[V3]]) {name = "fused"} : tensor<1x?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

// Sigmoid of something else.
// CHECK-LABEL: moir.model @other_operand {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Exp(%[[V0]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Sigmoid(%[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Multiply(%[[V0]], %[[V2]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V3]]) {name = "y"}
// CHECK-NEXT:  }

// The quotient x / (1 + exp(-beta * x)), with and without beta.
// CHECK-LABEL: moir.model @quotient {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset4.Swish(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }
// CHECK-LABEL: moir.model @quotient_with_beta {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset4.Swish(%[[V0]], %[[V1]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// The numerator is something else.
// CHECK-LABEL: moir.model @other_numerator {
// CHECK-NOT:     Swish
// CHECK:         %[[SIGMOID:.*]] = opset1.Sigmoid(%[[X:.*]]) : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Multiply(%{{.*}}, %[[SIGMOID]])
// CHECK:       }

// CHECK-LABEL: moir.model @sigmoid {
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[SIGMOID:.*]] = opset1.Sigmoid(%[[X]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[SIGMOID]]) {name = "y"}

// A computed beta of one element becomes a scalar; operations with beta have other uses.
// CHECK-LABEL: moir.model @computed_beta {
// CHECK:         %[[SCALAR:.*]] = opset1.Reshape(%{{.*}}, %{{.*}}) {special_zero = false} : tensor<f32>
// CHECK-NEXT:    %[[SWISH:.*]] = opset4.Swish(%{{.*}}, %[[SCALAR]]) {name = "fused"} : tensor<?x8xf32>
// CHECK:         opset1.Result(%[[SWISH]]) {name = "y"}

// Of a value of unknown rank, beta may add dimensions; several betas.
// CHECK-LABEL: moir.model @other_betas {
// CHECK-NOT:     Swish

// Equal factors that add elements.
// CHECK-LABEL: moir.model @equal_factors {
// CHECK:         %[[SWISH:.*]] = opset4.Swish(%{{.*}}, %{{.*}}) : tensor<?x8xf32>
// CHECK:         %[[ONES:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [1.0, 1.0]>} : tensor<2x1x1xf32>
// CHECK-NEXT:    opset1.Multiply(%[[SWISH]], %[[ONES]]) {name = "fused"} : tensor<2x?x8xf32>

builtin.module {
  moir.model @swish {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Sigmoid(%0) : tensor<?x8xf32>
    %2 = opset1.Multiply(%1, %0) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%2) {name = "y"}
  }
  moir.model @beta {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [1.5]>} : tensor<1x1xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Sigmoid(%2) : tensor<?x8xf32>
    %4 = opset1.Multiply(%0, %3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @factor_of_each_column {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<8xf32>, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>} : tensor<8xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Sigmoid(%2) : tensor<?x8xf32>
    %4 = opset1.Multiply(%0, %3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @other_rank {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.5]>} : tensor<1x1x1xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<1x?x8xf32>
    %3 = opset1.Sigmoid(%2) : tensor<1x?x8xf32>
    %4 = opset1.Multiply(%0, %3) {name = "fused"} : tensor<1x?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @other_operand {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Exp(%0) : tensor<?x8xf32>
    %2 = opset1.Sigmoid(%1) : tensor<?x8xf32>
    %3 = opset1.Multiply(%0, %2) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
  moir.model @quotient {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Negative(%0) : tensor<?x8xf32>
    %2 = opset1.Exp(%1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %4 = opset1.Add(%2, %3) : tensor<?x8xf32>
    %5 = opset1.Divide(%0, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @quotient_with_beta {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [1.5]>} : tensor<1x1xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Negative(%2) : tensor<?x8xf32>
    %4 = opset1.Exp(%3) : tensor<?x8xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %6 = opset1.Add(%5, %4) : tensor<?x8xf32>
    %7 = opset1.Divide(%0, %6) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%7) {name = "y"}
  }
  moir.model @other_numerator {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Negative(%0) : tensor<?x8xf32>
    %2 = opset1.Exp(%1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %4 = opset1.Add(%2, %3) : tensor<?x8xf32>
    %5 = opset1.Divide(%1, %4) : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @sigmoid {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Negative(%0) : tensor<?x8xf32>
    %2 = opset1.Exp(%1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %4 = opset1.Add(%3, %2) : tensor<?x8xf32>
    %5 = opset1.Divide(%3, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @computed_beta {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Parameter() {name = "b"} : tensor<1xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Sigmoid(%2) : tensor<?x8xf32>
    %4 = opset1.Multiply(%0, %3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%2) {name = "z"}
    opset1.Result(%4) {name = "y"}
  }
  moir.model @other_betas {
    %0 = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.5]>} : tensor<1xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<*xf32>
    %3 = opset1.Sigmoid(%2) : tensor<*xf32>
    %4 = opset1.Multiply(%0, %3) : tensor<*xf32>
    %5 = opset1.Parameter() {name = "x2"} : tensor<?x8xf32>
    %6 = opset1.Parameter() {name = "b"} : tensor<8xf32>
    %7 = opset1.Multiply(%5, %6) : tensor<?x8xf32>
    %8 = opset1.Sigmoid(%7) : tensor<?x8xf32>
    %9 = opset1.Multiply(%5, %8) : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%9) {name = "z"}
  }
  moir.model @equal_factors {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [1.5, 1.5]>} : tensor<2x1x1xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<2x?x8xf32>
    %3 = opset1.Sigmoid(%2) : tensor<2x?x8xf32>
    %4 = opset1.Multiply(%0, %3) {name = "fused"} : tensor<2x?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}
