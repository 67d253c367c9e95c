// RUN: moir-opt %s -p recognize-windows | filecheck %s

// A mask that is causal but for a window and padding is written in the form that OpenVINO GenAI sees.
// CHECK-LABEL: moir.model @window
// CHECK-NOT:     notes
// CHECK:         %[[SIZE:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [-8]>}
// CHECK:         %[[FAR:.*]] = opset1.Add(%{{.*}}, %[[SIZE]])
// CHECK:         %[[NEAR:.*]] = opset1.Greater(%[[KEYS:.*]], %[[FAR]])
// CHECK:         opset13.BitwiseAnd
// CHECK:         %[[M:.*]] = opset1.Select(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<?x1x?x?xf32>
// CHECK-NEXT:    opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]])

// What may be a window, but is not of this form, stays, with a note.
// CHECK-LABEL: moir.model @other
// CHECK-SAME:    in a form that OpenVINO GenAI's paged backend does not see
// CHECK-NOT:     opset13.BitwiseAnd
builtin.module {
  moir.model @window {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
    %mask = opset1.Parameter() {name = "attention_mask"} : tensor<?x?xsi64>
    %q = opset1.Parameter() {name = "q"} : tensor<?x2x?x4xf32>
    %keys = opset1.Parameter() {name = "keys"} : tensor<1x1x1x?xsi64>
    %queries = opset1.Parameter() {name = "queries"} : tensor<1x1x?x1xsi64>
    %eight = opset1.Constant() {value = #moir.data<tensor<si64>, [8]>} : tensor<si64>
    %axes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-3.0e+38]>} : tensor<f32>
    %b = opset1.Convert(%mask) {destination_type = i1} : tensor<?x?xi1>
    %padding = opset1.Unsqueeze(%b, %axes) : tensor<?x1x1x?xi1>
    %d = opset1.Subtract(%queries, %eight) : tensor<1x1x?x1xsi64>
    %near = opset1.Greater(%keys, %d) : tensor<1x1x?x?xi1>
    %causal = opset1.LessEqual(%keys, %queries) : tensor<1x1x?x?xi1>
    %both = opset1.LogicalAnd(%near, %causal) : tensor<1x1x?x?xi1>
    %seen = opset1.LogicalAnd(%both, %padding) : tensor<?x1x?x?xi1>
    %m = opset1.Select(%seen, %zero, %low) : tensor<?x1x?x?xf32>
    %a = opset13.ScaledDotProductAttention(%q, %q, %q, %m) : tensor<?x2x?x4xf32>
    opset1.Result(%a) {name = "a"}
  }
  moir.model @other {
    %ids = opset1.Parameter() {name = "input_ids"} : tensor<?x?xsi64>
    %mask = opset1.Parameter() {name = "attention_mask"} : tensor<?x?xsi64>
    %q = opset1.Parameter() {name = "q"} : tensor<?x2x?x4xf32>
    %keys = opset1.Parameter() {name = "keys"} : tensor<1x1x1x?xsi64>
    %queries = opset1.Parameter() {name = "queries"} : tensor<1x1x?x1xsi64>
    %eight = opset1.Constant() {value = #moir.data<tensor<si64>, [8]>} : tensor<si64>
    %axes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-3.0e+38]>} : tensor<f32>
    %b = opset1.Convert(%mask) {destination_type = i1} : tensor<?x?xi1>
    %padding = opset1.Unsqueeze(%b, %axes) : tensor<?x1x1x?xi1>
    %d = opset1.Subtract(%queries, %eight) : tensor<1x1x?x1xsi64>
    %near = opset1.GreaterEqual(%keys, %d) : tensor<1x1x?x?xi1>
    %causal = opset1.LessEqual(%keys, %queries) : tensor<1x1x?x?xi1>
    %both = opset1.LogicalAnd(%near, %causal) : tensor<1x1x?x?xi1>
    %seen = opset1.LogicalAnd(%both, %padding) : tensor<?x1x?x?xi1>
    %m = opset1.Select(%seen, %zero, %low) : tensor<?x1x?x?xf32>
    %a = opset13.ScaledDotProductAttention(%q, %q, %q, %m) : tensor<?x2x?x4xf32>
    opset1.Result(%a) {name = "a"}
  }
}
