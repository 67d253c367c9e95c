// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead --split-input-file | filecheck %s

// GenAI's paged attention keeps a window only if the mask consists of exactly these operations: the products with True
// and the Broadcast have no effect on the values.
// CHECK-LABEL: moir.model @causal
// CHECK:         %[[KEYS:.*]] = opset1.Unsqueeze({{.*}} : tensor<1x1x1x?xsi64>
// CHECK:         %[[QUERIES:.*]] = opset1.Unsqueeze({{.*}} : tensor<1x1x?x1xsi64>
// CHECK-NEXT:    %[[CAUSAL:.*]] = opset1.LessEqual(%[[KEYS]], %[[QUERIES]])
// CHECK-NEXT:    %[[WINDOW:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [-3]>}
// CHECK-NEXT:    %[[FIRST:.*]] = opset1.Add(%[[QUERIES]], %[[WINDOW]])
// CHECK-NEXT:    %[[NEAR:.*]] = opset1.Greater(%[[KEYS]], %[[FIRST]])
// CHECK-NEXT:    %[[TRUE:.*]] = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
// CHECK-NEXT:    %[[INNER:.*]] = opset13.BitwiseAnd(%[[TRUE]], %[[NEAR]])
// CHECK-NEXT:    %[[BOTH:.*]] = opset13.BitwiseAnd(%[[INNER]], %[[CAUSAL]])
// CHECK-NEXT:    %[[OTHER:.*]] = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
// CHECK-NEXT:    %[[OUTER:.*]] = opset13.BitwiseAnd(%[[OTHER]], %[[BOTH]])
// CHECK:         %[[PADDING:.*]] = opset1.Unsqueeze({{.*}} : tensor<?x1x1x?xi1>
// CHECK:         %[[SEEN:.*]] = opset13.BitwiseAnd(%[[OUTER]], %[[PADDING]])
// CHECK-NEXT:    %[[ALL:.*]] = opset3.Broadcast(%[[SEEN]], %{{.*}}) : tensor<?x1x?x?xi1>
// CHECK:         [0.0]
// CHECK-NEXT:    {{.*}}[-65504.0]
// CHECK-NEXT:    opset1.Select(%[[ALL]]
builtin.module {
  moir.model @causal {
    %m = opset1.Parameter() {name = "m"} : tensor<?x?xsi64>
    %t = opset1.Parameter() {name = "t"} : tensor<?x?xsi64>
    %y = transformers.CausalMask(%m, %t) {window = 3, name = "mask"} : tensor<?x1x?x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @no_window
// CHECK-NOT:     opset1.Greater
// CHECK:         %[[CAUSAL:.*]] = opset1.LessEqual
// CHECK-NOT:     opset1.Greater
// CHECK:         opset13.BitwiseAnd(%{{.*}}, %[[CAUSAL]])
// CHECK:         opset1.Select
builtin.module {
  moir.model @no_window {
    %m = opset1.Parameter() {name = "m"} : tensor<?x?xsi64>
    %t = opset1.Parameter() {name = "t"} : tensor<?x?xsi64>
    %y = transformers.CausalMask(%m, %t) {name = "mask"} : tensor<?x1x?x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Tokens of an encoder see those on both sides.
// CHECK-LABEL: moir.model @encoder
// CHECK-NOT:     opset1.LessEqual
// CHECK:         %[[PADDING:.*]] = opset1.Unsqueeze({{.*}} : tensor<?x1x1x?xi1>
// CHECK:         opset1.Select(%[[PADDING]], %{{.*}}, %{{.*}}) {name = "mask"} : tensor<?x1x1x?xf32>
builtin.module {
  moir.model @encoder {
    %m = opset1.Parameter() {name = "m"} : tensor<?x?xsi64>
    %t = opset1.Parameter() {name = "t"} : tensor<?x?xsi64>
    %y = transformers.Mask(%m, %t) {name = "mask"} : tensor<?x1x1x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}
