// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead --split-input-file | filecheck %s

// The runtime has one operation for x * (1 / sqrt(mean(x^2) + epsilon)) * weight in this order.
// CHECK-LABEL: moir.model @norm
// CHECK:         %[[SQUARE:.*]] = opset1.Power(%x, %{{.*}})
// CHECK:         %[[MEAN:.*]] = opset1.ReduceMean(%[[SQUARE]], %{{.*}}) {keep_dims = true} : tensor<?x?x1xf32>
// CHECK:         [1.0e-05]
// CHECK:         %[[SUM:.*]] = opset1.Add(%[[MEAN]]
// CHECK-NEXT:    %[[ROOT:.*]] = opset1.Sqrt(%[[SUM]])
// CHECK:         %[[FACTOR:.*]] = opset1.Divide(%{{.*}}, %[[ROOT]])
// CHECK-NEXT:    %[[NORMED:.*]] = opset1.Multiply(%x, %[[FACTOR]])
// CHECK-NEXT:    %[[WEIGHT:.*]] = opset1.Constant() {{.*}}[1.0, 2.0, 3.0, 4.0]>} : tensor<1x1x4xf32>
// CHECK-NEXT:    opset1.Multiply(%[[NORMED]], %[[WEIGHT]]) {name = "n"} : tensor<?x?x4xf32>
builtin.module {
  moir.model @norm {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %y = transformers.RMSNorm(%x, %w) {epsilon = 1.0e-05, part = 4, name = "n"} : tensor<?x?x4xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// The heads are normalized each by itself; the weights are stored less 1.
// CHECK-LABEL: moir.model @parts
// CHECK:         %[[PARTS:.*]] = opset1.Reshape(%x, %{{.*}}) {special_zero = true} : tensor<?x?x2x4xf32>
// CHECK:         opset1.ReduceMean({{.*}} : tensor<?x?x2x1xf32>
// CHECK:         opset1.Multiply(%[[PARTS]], %{{.*}}) : tensor<?x?x2x4xf32>
// CHECK-NEXT:    opset1.Constant() {{.*}}[2.0, 3.0, 4.0, 5.0]>} : tensor<1x1x1x4xf32>
// CHECK:         opset1.Reshape({{.*}}) {special_zero = true, name = "n"} : tensor<?x?x8xf32>
builtin.module {
  moir.model @parts {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %y = transformers.RMSNorm(%x, %w) {epsilon = 1.0e-05, offset = 1.0, part = 4, name = "n"} : tensor<?x?x8xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @layer_norm
// CHECK:         %[[NORMED:.*]] = opset6.MVN(%x, %{{.*}}) {normalize_variance = true, eps = 1.0e-05, eps_mode = "INSIDE_SQRT"}
// CHECK:         %[[SCALED:.*]] = opset1.Multiply(%[[NORMED]]
// CHECK:         opset1.Add(%[[SCALED]]
builtin.module {
  moir.model @layer_norm {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<4xf32>, [5.0, 6.0, 7.0, 8.0]>} : tensor<4xf32>
    %y = transformers.LayerNorm(%x, %w, %b) {epsilon = 1.0e-05, part = 4, name = "n"} : tensor<?x?x4xf32>
    opset1.Result(%y) {name = "y"}
  }
}
