// RUN: moir-opt %s -p "attend-to-zeros,note-unfused-caches" --split-input-file | filecheck %s

// A cache that no attention operation reads is left as it is, with a note: the backend does not compute such attentions.
// CHECK-LABEL: moir.model @keys
// CHECK-SAME:    ContinuousBatchingPipeline
// CHECK-NOT:     ScaledDotProductAttention
builtin.module {
  moir.model @keys {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
    %mask = opset1.Parameter() {name = "attention_mask"} : tensor<?x?xsi64>
    %beams = opset1.Parameter() {name = "beam_idx"} : tensor<?xsi32>
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %s = opset6.ReadValue(%x) {variable_id = "past_key_values.0.keypresent.0.key", variable_type = f32, variable_shape = "?,?,4"} : tensor<?x?x4xf32>
    %a = opset6.Assign(%s) {variable_id = "past_key_values.0.keypresent.0.key"} : tensor<?x?x4xf32>
    opset1.Result(%s) {name = "logits"}
  }
}

// -----

// Without caches there is nothing to note.
// CHECK-LABEL: moir.model @logits
// CHECK-NOT:     ContinuousBatchingPipeline
builtin.module {
  moir.model @logits {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
    %mask = opset1.Parameter() {name = "attention_mask"} : tensor<?x?xsi64>
    %beams = opset1.Parameter() {name = "beam_idx"} : tensor<?xsi32>
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    opset1.Result(%x) {name = "logits"}
  }
}

// -----

// One of two layers has an attention operation, as in Llama 4: the backend refuses the model for the other one.
// CHECK-LABEL: moir.model @half
// CHECK-SAME:    ContinuousBatchingPipeline
// CHECK:         ScaledDotProductAttention
builtin.module {
  moir.model @half {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
    %mask = opset1.Parameter() {name = "attention_mask"} : tensor<?x?xsi64>
    %beams = opset1.Parameter() {name = "beam_idx"} : tensor<?xsi32>
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x?x4xf32>
    %k = opset6.ReadValue(%x) {variable_id = "past_key_values.0.keypresent.0.key", variable_type = f32, variable_shape = "?,1,?,4"} : tensor<?x1x?x4xf32>
    %v = opset6.ReadValue(%x) {variable_id = "past_key_values.0.valuepresent.0.value", variable_type = f32, variable_shape = "?,1,?,4"} : tensor<?x1x?x4xf32>
    %l = opset6.ReadValue(%x) {variable_id = "past_key_values.1.keypresent.1.key", variable_type = f32, variable_shape = "?,1,?,4"} : tensor<?x1x?x4xf32>
    %y = opset13.ScaledDotProductAttention(%x, %k, %v) {causal = false} : tensor<?x1x?x4xf32>
    %z = opset1.Add(%y, %l) {auto_broadcast = "numpy"} : tensor<?x1x?x4xf32>
    %a = opset6.Assign(%k) {variable_id = "past_key_values.0.keypresent.0.key"} : tensor<?x1x?x4xf32>
    %b = opset6.Assign(%v) {variable_id = "past_key_values.0.valuepresent.0.value"} : tensor<?x1x?x4xf32>
    %c = opset6.Assign(%l) {variable_id = "past_key_values.1.keypresent.1.key"} : tensor<?x1x?x4xf32>
    opset1.Result(%z) {name = "logits"}
  }
}
