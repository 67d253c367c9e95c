// RUN: moir-opt %s | filecheck %s
// The pretty and the generic form of operations, calls, locations, attributes of dialects.

#loc1 = loc("image")
module @forms attributes {mhlo.num_partitions = 1 : i32} {
  func.func private @twice(%arg0: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32> loc("sum")
    return %0 : tensor<2x3xf32>
  }
  // CHECK: @forms
  // CHECK: opset1.Parameter() {name = "image"
  func.func public @main(%arg0: tensor<2x3xf32> loc(#loc1), %arg1: tensor<i32> loc("n")) -> (tensor<3x2xf32> {jax.result_info = "result['y']"}, tensor<2xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    // CHECK: stablehlo.add(%{{.*}}, %{{.*}}) {name = "sum"}
    %0 = call @twice(%arg0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // CHECK: stablehlo.transpose(%{{.*}}) {permutation = [1, 0]
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    // CHECK: stablehlo.reduce(%{{.*}}) {dimensions = [1]
    // CHECK: stablehlo.maximum
    %2 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    // CHECK: stablehlo.slice(%{{.*}}) {start_indices = [0, 1], limit_indices = [2, 3], strides = [1, 2]
    %3 = stablehlo.slice %0 [0:2, 1:3:2] : (tensor<2x3xf32>) -> tensor<2x1xf32>
    // CHECK: stablehlo.case
    // CHECK-SAME: captured = 1
    %4 = "stablehlo.case"(%arg1) ({
      stablehlo.return %2 : tensor<2xf32>
    }, {
      %5 = stablehlo.negate %2 : tensor<2xf32>
      stablehlo.return %5 : tensor<2xf32>
    }) : (tensor<i32>) -> tensor<2xf32>
    // CHECK: opset1.Result(%{{.*}}) {name = "y"}
    // CHECK: opset1.Result(%{{.*}}) {name = "result_1"}
    return %1, %4 : tensor<3x2xf32>, tensor<2xf32>
  }
}
