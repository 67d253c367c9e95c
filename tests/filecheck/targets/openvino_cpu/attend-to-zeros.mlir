// RUN: moir-opt %s -p attend-to-zeros | filecheck %s

// A model with recurrent states alone gets an attention of zeros, with a cache, whose result is added to the logits.
// CHECK-LABEL: moir.model @recurrent
// CHECK:         %[[KEYS:.*]] = opset6.ReadValue(%{{.*}}) {variable_id = "past_key_values.0.keypresent.0.key", variable_type = f32, variable_shape = "?,1,?,16"}
// CHECK:         opset1.Concat(%{{.*}}, %[[ZEROS:.*]]) {axis = -2} : tensor<?x1x?x16xf32>
// CHECK:         opset6.Assign
// CHECK:         %[[Y:.*]] = opset13.ScaledDotProductAttention(%[[ZEROS]], %{{.*}}) : tensor<?x1x?x16xf32>
// CHECK:         %[[SUM:.*]] = opset1.ReduceSum(%{{.*}}) {keep_dims = true} : tensor<?x?x1xf32>
// CHECK-NEXT:    %[[LOGITS:.*]] = opset1.Add(%x, %[[SUM]]) {{{.*}}} : tensor<?x?x4xf32>
// CHECK-NEXT:    opset1.Result(%[[LOGITS]])
builtin.module {
  moir.model @recurrent {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
    %mask = opset1.Parameter() {name = "attention_mask"} : tensor<?x?xsi64>
    %beams = opset1.Parameter() {name = "beam_idx"} : tensor<?xsi32>
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<?x4xf32>
    %s = opset6.ReadValue(%i) {variable_id = "cache_params.past.ssm.0cache_params.present.ssm.0", variable_type = f32, variable_shape = "?,4"} : tensor<?x4xf32>
    %a = opset6.Assign(%s) {variable_id = "cache_params.past.ssm.0cache_params.present.ssm.0"} : tensor<?x4xf32>
    opset1.Result(%x) {name = "logits"}
  }
}
