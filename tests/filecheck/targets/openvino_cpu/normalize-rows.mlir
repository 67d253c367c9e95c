// RUN: moir-opt %s -p "normalize-rows,eliminate-dead" --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @images
// CHECK:           %[[ROWS:.*]] = opset1.Reshape(%x, %{{.*}}) {special_zero = true} : tensor<?x2x?xf32>
// CHECK:           %[[N:.*]] = opset6.MVN(%[[ROWS]], %{{.*}}) {eps = 0.5, normalize_variance = true, eps_mode = "INSIDE_SQRT"}
// CHECK-NEXT:      %[[SHAPE:.*]] = opset3.ShapeOf(%x)
// CHECK-NEXT:      %[[BACK:.*]] = opset1.Reshape(%[[N]], %[[SHAPE]]) {special_zero = false}
// CHECK-NEXT:      %[[SCALE:.*]] = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK-NEXT:      opset1.Multiply(%[[BACK]], %[[SCALE]]) {name = "y"} : tensor<?x4x?x?xf32>
builtin.module {
  moir.model @images {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x?x?xf32>
    %scale = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %shift = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.0, 0.0, 0.0, 0.0]>} : tensor<4xf32>
    %y = opset12.GroupNormalization(%x, %scale, %shift) {num_groups = 2, epsilon = 0.5, name = "y"} : tensor<?x4x?x?xf32>
    opset1.Result(%y) {name = "result"}
  }
}

// -----

// A batch of unknown size needs no computed shape; known sizes stay.
// CHECK-LABEL: moir.model @batch
// CHECK:           #moir.data<tensor<4xsi64>, [0, 4, 8, 8]>
// CHECK:           opset12.GroupNormalization
builtin.module {
  moir.model @batch {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x8x8xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x4x8x8xf32>
    %scale = opset1.Parameter() {name = "s"} : tensor<4xf32>
    %shift = opset1.Parameter() {name = "t"} : tensor<4xf32>
    %y = opset12.GroupNormalization(%x, %scale, %shift) {num_groups = 2, epsilon = 0.5} : tensor<?x4x8x8xf32>
    opset1.Result(%y) {name = "y"}
    %1 = opset12.GroupNormalization(%z, %scale, %shift) {num_groups = 2, epsilon = 0.5} : tensor<1x4x8x8xf32>
    opset1.Result(%1) {name = "known"}
  }
}
