// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead --split-input-file | filecheck %s

// Queries and keys are rotated; keys and values are appended to those of the cache, whose rows are reordered by %b.
// Each of two heads of keys serves two heads of queries.
// CHECK-LABEL: moir.model @attention
// CHECK:         %[[QUERY:.*]] = opset1.Transpose({{.*}} : tensor<?x4x?x4xf32>
// CHECK:         %[[TURNED:.*]] = opset1.Concat({{.*}}) {axis = -1} : tensor<?x4x?x4xf32>
// CHECK-NEXT:    %[[A:.*]] = opset1.Multiply(%[[QUERY]], %c)
// CHECK-NEXT:    %[[B:.*]] = opset1.Multiply(%[[TURNED]], %s)
// CHECK-NEXT:    %[[ROTATED:.*]] = opset1.Add(%[[A]], %[[B]])
// CHECK:         %[[KEY:.*]] = opset1.Add({{.*}} : tensor<?x2x?x4xf32>
// CHECK:         %[[VALUE:.*]] = opset1.Transpose({{.*}} : tensor<?x2x?x4xf32>
// CHECK:         %[[READ:.*]] = opset6.ReadValue({{.*}}) {variable_id = "past_key_values.0.keypresent.0.key", variable_type = f32, variable_shape = "?,2,?,4"}
// CHECK:         %[[PAST:.*]] = opset8.Gather(%[[READ]], %b, %{{.*}})
// CHECK-NEXT:    %[[KEYS:.*]] = opset1.Concat(%[[PAST]], %[[KEY]]) {axis = -2}
// CHECK-NEXT:    opset6.Assign(%[[KEYS]]) {variable_id = "past_key_values.0.keypresent.0.key"}
// CHECK:         %[[READ2:.*]] = opset6.ReadValue({{.*}}) {variable_id = "past_key_values.0.valuepresent.0.value", variable_type = f32, variable_shape = "?,2,?,4"}
// CHECK:         %[[PAST2:.*]] = opset8.Gather(%[[READ2]], %b, %{{.*}})
// CHECK-NEXT:    %[[VALUES:.*]] = opset1.Concat(%[[PAST2]], %[[VALUE]]) {axis = -2}
// CHECK-NEXT:    opset6.Assign(%[[VALUES]])
// CHECK:         %[[WIDE:.*]] = opset1.Unsqueeze(%[[KEYS]], %{{.*}}) : tensor<?x2x1x?x4xf32>
// CHECK-NEXT:    %[[SPREAD:.*]] = opset3.Broadcast(%[[WIDE]], %{{.*}}) {mode = "bidirectional"} : tensor<?x2x2x?x4xf32>
// CHECK:         %[[ALLKEYS:.*]] = opset1.Reshape(%[[SPREAD]], %{{.*}}) {special_zero = true} : tensor<?x4x?x4xf32>
// CHECK:         opset1.Unsqueeze(%[[VALUES]]
// CHECK:         %[[ALLVALUES:.*]] = opset1.Reshape({{.*}} : tensor<?x4x?x4xf32>
// CHECK-NEXT:    %[[SCALE:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>}
// CHECK-NEXT:    opset13.ScaledDotProductAttention(%[[ROTATED]], %[[ALLKEYS]], %[[ALLVALUES]], %m, %[[SCALE]]) : tensor<?x4x?x4xf32>
builtin.module {
  moir.model @attention {
    %q = opset1.Parameter() {name = "q"} : tensor<?x?x16xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x?x8xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x?x8xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<?x1x?x?xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<?xsi32>
    %c = opset1.Parameter() {name = "c"} : tensor<?x1x?x4xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<?x1x?x4xf32>
    %y = transformers.Attention(%q, %k, %v, %m, %b, %c, %s) {heads = 4, key_heads = 2, layer = 0, scale = 0.5, name = "a"} : tensor<?x?x16xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Scores have a cap before the mask, which the operation of attention does not have. Nothing is cached without %b.
// CHECK-LABEL: moir.model @cap
// CHECK-NOT:     opset6.ReadValue
// CHECK-NOT:     opset13.ScaledDotProductAttention
// CHECK:         %[[TANH:.*]] = opset1.Tanh(
// CHECK:         %[[CAPPED:.*]] = opset1.Multiply(%[[TANH]]
// CHECK-NEXT:    %[[MASKED:.*]] = opset1.Add(%[[CAPPED]], %m)
// CHECK-NEXT:    %[[WEIGHTS:.*]] = opset8.Softmax(%[[MASKED]]) {axis = -1}
// CHECK-NEXT:    opset1.MatMul(%[[WEIGHTS]]
builtin.module {
  moir.model @cap {
    %q = opset1.Parameter() {name = "q"} : tensor<?x?x16xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x?x16xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x?x16xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<?x1x?x?xf32>
    %y = transformers.Attention(%q, %k, %v, %m) {heads = 4, layer = 0, scale = 0.5, cap = 20.0, name = "a"} : tensor<?x?x16xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// As many heads as another layer has: each group of queries gets a head of zeros, whose result is dropped.
// CHECK-LABEL: moir.model @padded_heads
// CHECK:         %[[GROUPS:.*]] = opset1.Reshape({{.*}} : tensor<?x2x1x?x4xf32>
// CHECK:         %[[PADDED:.*]] = opset12.Pad(%[[GROUPS]], {{.*}} : tensor<?x2x2x?x4xf32>
// CHECK:         %[[QUERIES:.*]] = opset1.Reshape(%[[PADDED]], {{.*}} : tensor<?x4x?x4xf32>
// CHECK:         %[[RESULT:.*]] = opset13.ScaledDotProductAttention(%[[QUERIES]], {{.*}} : tensor<?x4x?x4xf32>
// CHECK:         %[[PARTS:.*]] = opset1.Reshape(%[[RESULT]], {{.*}} : tensor<?x2x2x?x4xf32>
// CHECK:         opset8.Slice(%[[PARTS]], {{.*}} : tensor<?x2x1x?x4xf32>
builtin.module {
  moir.model @padded_heads {
    %q = opset1.Parameter() {name = "q"} : tensor<?x?x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x?x8xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x?x8xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<?x1x?x?xf32>
    %y = transformers.Attention(%q, %k, %v, %m) {heads = 2, padded_heads = 4, layer = 0, scale = 0.5, name = "a"} : tensor<?x?x8xf32>
    opset1.Result(%y) {name = "y"}
  }
}
