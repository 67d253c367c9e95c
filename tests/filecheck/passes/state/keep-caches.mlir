// RUN: moir-opt %s -p keep-caches | filecheck %s

// The cache becomes a variable, whose rows beam_idx reorders before new keys are appended; the size of its batch is that
// of beam_idx, its length 0 before the first inference. Inputs get the element type i64, and lose bounds; of the outputs
// the logits stay, in f32.
// CHECK-LABEL: moir.model @decoder
// CHECK-SAME:    ATTENTION_BACKEND
// CHECK:         %[[IDS:.*]] = opset1.Parameter() {name = "input_ids", tensor_names = ["input_ids"]} : tensor<?x?xsi64>
// CHECK:         opset1.Parameter() {name = "attention_mask", tensor_names = ["attention_mask"]} : tensor<?x?xsi64>
// CHECK:         %[[BEAMS:.*]] = opset1.Parameter() {name = "beam_idx", tensor_names = ["beam_idx"]} : tensor<?xsi32>
// CHECK-NEXT:    %[[S:.*]] = opset3.ShapeOf(%[[BEAMS]])
// CHECK-NEXT:    %[[B:.*]] = opset8.Gather(%[[S]],
// CHECK-NEXT:    %[[C:.*]] = opset1.Concat(%[[B]],
// CHECK-NEXT:    %[[Z:.*]] = opset3.Broadcast(%{{.*}}, %[[C]]) : tensor<?x2x0x4xf32>
// CHECK-NEXT:    %[[P:.*]] = opset6.ReadValue(%[[Z]]) {variable_id = "past_key_values.0.keypresent.0.key", variable_type = f32, variable_shape = "?,2,?,4"}
// CHECK-NEXT:    %[[G:.*]] = opset8.Gather(%[[P]], %[[BEAMS]],
// CHECK-NEXT:    %[[K:.*]] = opset1.Relu(%[[G]])
// CHECK-NEXT:    %[[N:.*]] = opset1.Concat(%[[G]], %[[K]]) {axis = 2}
// CHECK-NEXT:    opset6.Assign(%[[N]]) {variable_id = "past_key_values.0.keypresent.0.key"}
// CHECK:         %[[L:.*]] = opset1.Convert(%{{.*}}) {destination_type = f32, tensor_names = ["logits"]}
// CHECK-NEXT:    opset1.Result(%[[L]]) {name = "logits"}
// CHECK-NOT:     opset1.Result
// An input and the output of its pair may have the same name.
// CHECK-LABEL: moir.model @same_names
// CHECK:         opset6.ReadValue({{.*}}) {variable_id = "cache_0cache_0", variable_type = f32, variable_shape = "?,2,?,4"}
// CHECK:         %[[N:.*]] = opset1.Concat(
// CHECK-NEXT:    opset6.Assign(%[[N]]) {variable_id = "cache_0cache_0"}
// CHECK:         opset1.Result(%{{.*}}) {name = "logits"}
// CHECK-NOT:     opset1.Result
builtin.module {
  moir.model @decoder {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi32>
    %mask = opset1.Parameter() {name = "attention_mask", bounds = "2..,2.."} : tensor<?x?xsi64>
    %past = opset1.Parameter() {name = "past_key_values.0.key"} : tensor<?x2x?x4xf32>
    %k = opset1.Relu(%past) : tensor<?x2x?x4xf32>
    %n = opset1.Concat(%past, %k) {axis = 2} : tensor<?x2x?x4xf32>
    opset1.Result(%n) {name = "present.0.key"}
    %y = opset1.Convert(%n) {destination_type = f16} : tensor<?x2x?x4xf16>
    opset1.Result(%y) {name = "scores"}
    %i = opset1.Relu(%ids) : tensor<?x?xsi32>
    opset1.Result(%i) {name = "logits"}
  }
  moir.model @same_names {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
    %mask = opset1.Parameter() {name = "attention_mask"} : tensor<?x?xsi64>
    %past = opset1.Parameter() {name = "cache_0"} : tensor<?x2x?x4xf32>
    %n = opset1.Concat(%past, %past) {axis = 2} : tensor<?x2x?x4xf32>
    opset1.Result(%n) {name = "cache_0"}
    %y = opset1.Relu(%n) : tensor<?x2x?x4xf32>
    opset1.Result(%y) {name = "logits"}
  }
}

// RUN: not moir-opt %s -p 'keep-caches{pairs="a=b"}' 2>&1 | filecheck %s --check-prefix=PAIRS
// PAIRS: the model has no input 'a'
