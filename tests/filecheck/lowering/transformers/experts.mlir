// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead --split-input-file | filecheck %s

// The plugin computes only the chosen experts if these operations are in exactly this order, the Reshapes included.
// CHECK-LABEL: moir.model @experts
// CHECK:         %[[TOKENS:.*]] = opset1.Reshape(%x, %{{.*}}) {special_zero = false} : tensor<?x4xf32>
// CHECK:         %[[LOGITS:.*]] = opset1.MatMul(%[[TOKENS]], %router) {transpose_b = true} : tensor<?x3xf32>
// CHECK-NEXT:    %[[SCORES:.*]] = opset8.Softmax(%[[LOGITS]]) {axis = -1}
// CHECK:         %[[BEST:.*]], %[[PLACES:.*]] = opset11.TopK(%[[SCORES]], %{{.*}}) {{.*}}mode = "max"
// CHECK:         %[[SUM:.*]] = opset1.ReduceSum(%[[BEST]], %{{.*}}) {keep_dims = true}
// CHECK-NEXT:    %[[SHARES:.*]] = opset1.Divide(%[[BEST]], %[[SUM]])
// CHECK:         %[[WEIGHTS:.*]] = opset{{.*}}.ScatterElementsUpdate(%{{.*}}, %[[PLACES]], %[[SHARES]], %{{.*}}) : tensor<?x3xf32>
// CHECK:         %[[TILED:.*]] = opset1.Tile(%[[TOKENS]], %{{.*}}) : tensor<?x4xf32>
// CHECK:         %[[EACH:.*]] = opset1.Reshape(%[[TILED]], %{{.*}}) {special_zero = false} : tensor<3x?x4xf32>
// CHECK-NEXT:    %[[GATE:.*]] = opset1.MatMul(%[[EACH]], %gate) {transpose_b = true} : tensor<3x?x2xf32>
// CHECK-NEXT:    %[[UP:.*]] = opset1.MatMul(%[[EACH]], %up) {transpose_b = true} : tensor<3x?x2xf32>
// CHECK-NEXT:    %[[SWISH:.*]] = opset4.Swish(%[[GATE]])
// CHECK-NEXT:    %[[INNER:.*]] = opset1.Multiply(%[[SWISH]], %[[UP]])
// CHECK-NEXT:    %[[DOWN:.*]] = opset1.MatMul(%[[INNER]], %down) {transpose_b = true} : tensor<3x?x4xf32>
// CHECK:         %[[RESULTS:.*]] = opset1.Reshape(%[[DOWN]], %{{.*}}) {special_zero = false} : tensor<3x?x?x4xf32>
// CHECK:         %[[ROWS:.*]] = opset1.Transpose(%[[WEIGHTS]], %{{.*}}) : tensor<3x?xf32>
// CHECK-NEXT:    %[[WIDE:.*]] = opset1.Reshape(%[[ROWS]], %{{.*}}) {special_zero = false} : tensor<3x?x?xf32>
// CHECK:         %[[COLUMNS:.*]] = opset1.Unsqueeze(%[[WIDE]], %{{.*}}) : tensor<3x?x?x1xf32>
// CHECK:         %[[WEIGHED:.*]] = opset1.Multiply(%[[RESULTS]], %[[COLUMNS]])
// CHECK:         opset1.ReduceSum(%[[WEIGHED]], %{{.*}}) {{.*}} : tensor<?x?x4xf32>
builtin.module {
  moir.model @experts {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %router = opset1.Parameter() {name = "r"} : tensor<3x4xf32>
    %gate = opset1.Parameter() {name = "g"} : tensor<3x2x4xf32>
    %up = opset1.Parameter() {name = "u"} : tensor<3x2x4xf32>
    %down = opset1.Parameter() {name = "d"} : tensor<3x4x2xf32>
    %y = transformers.MixtureOfExperts(%x, %router, %gate, %up, %down) {chosen = 2, scores = "softmax", is_normalized = true, activation = "silu", name = "moe"} : tensor<?x?x4xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Groups, a correction of the choice, and a factor: the weights are the scores without the correction.
// CHECK-LABEL: moir.model @groups
// CHECK:         %[[SCORES:.*]] = opset1.Sigmoid(%{{.*}}) : tensor<?x4xf32>
// CHECK:         %[[RANKED:.*]] = opset1.Add(%[[SCORES]], %{{.*}}) : tensor<?x4xf32>
// CHECK:         %[[GROUPED:.*]] = opset1.Reshape(%[[RANKED]], %{{.*}}) {special_zero = true} : tensor<?x2x2xf32>
// CHECK:         %[[KEPT:.*]] = opset1.Select(%{{.*}}, %[[RANKED]], %{{.*}})
// CHECK:         %[[BEST:.*]], %[[PLACES:.*]] = opset11.TopK(%[[KEPT]], %{{.*}})
// CHECK:         opset6.GatherElements(%[[SCORES]], %[[PLACES]]) {axis = 1}
builtin.module {
  moir.model @groups {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %router = opset1.Parameter() {name = "r"} : tensor<4x4xf32>
    %gate = opset1.Parameter() {name = "g"} : tensor<4x2x4xf32>
    %up = opset1.Parameter() {name = "u"} : tensor<4x2x4xf32>
    %down = opset1.Parameter() {name = "d"} : tensor<4x4x2xf32>
    %none = moir.none
    %c = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.5, 0.0, 0.1, 0.2]>} : tensor<4xf32>
    %y = transformers.MixtureOfExperts(%x, %router, %gate, %up, %down, %none, %none, %none, %none, %c) {chosen = 2, scores = "sigmoid", is_normalized = true, scale = 2.5, groups = 2, chosen_groups = 1, group_score = "best two", activation = "silu", name = "moe"} : tensor<?x?x4xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Experts without a gate: one product, and its activation.
// CHECK-LABEL: moir.model @plain
// CHECK:         %[[UP:.*]] = opset1.MatMul(%{{.*}}, %up) {transpose_b = true} : tensor<3x?x2xf32>
// CHECK-NEXT:    %[[INNER:.*]] = opset1.Relu(%[[UP]])
// CHECK-NEXT:    opset1.MatMul(%[[INNER]], %down) {transpose_b = true} : tensor<3x?x4xf32>
builtin.module {
  moir.model @plain {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %router = opset1.Parameter() {name = "r"} : tensor<3x4xf32>
    %up = opset1.Parameter() {name = "u"} : tensor<3x2x4xf32>
    %down = opset1.Parameter() {name = "d"} : tensor<3x4x2xf32>
    %y = transformers.MixtureOfExperts(%x, %router, %up, %up, %down) {chosen = 2, scores = "softmax", is_plain = true, activation = "relu", name = "moe"} : tensor<?x?x4xf32>
    opset1.Result(%y) {name = "y"}
  }
}
