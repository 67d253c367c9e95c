// RUN: moir-opt %s -p "lower-transformers,count-axes-from-first,copy-loop-slices,step-by-state-space,eliminate-dead" --split-input-file | filecheck %s

// Heads of a group share inputs and outputs: each further axis has an Unsqueeze, and slices have no copies.
// CHECK-LABEL: moir.model @grouped
// CHECK:         %[[X:.*]] = opset1.Reshape(%x, %{{.*}}) {special_zero = true} : tensor<?x?x4x2xf32>
// CHECK:         %[[FACTORS:.*]] = opset1.Reshape(%{{.*}}) {special_zero = true} : tensor<?x?x4x1x1xf32>
// CHECK:         opset1.Tile(%{{.*}}) : tensor<?x?x2x2x3xf32>
// CHECK:         opset1.Unsqueeze(%{{.*}}) : tensor<?x?x4x2x1xf32>
// CHECK-NEXT:    %[[UPDATES:.*]] = opset1.Multiply(%{{.*}}) : tensor<?x?x4x2x3xf32>
// CHECK:         opset5.Loop(%{{.*}}, %{{.*}}, %[[FACTORS]], %[[UPDATES]], %{{.*}})
// CHECK-NOT:     opset7.Roll
// CHECK-NOT:     opset15.Squeeze
// CHECK:         %[[LAST:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>}
// CHECK-NEXT:    opset1.ReduceSum(%{{.*}}, %[[LAST]]) : tensor<?x4x2xf32>
builtin.module {
  moir.model @grouped {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x8xf32>
    %t = opset1.Parameter() {name = "t"} : tensor<?x?x4xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<?x?x6xf32>
    %o = opset1.Parameter() {name = "o"} : tensor<?x?x6xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<?xsi32>
    %d = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.5, 1.0, 0.1, 0.2]>} : tensor<4xf32>
    %y = transformers.SelectiveStateSpace(%x, %t, %i, %o, %d, %d, %b, %d) {layer = 0, groups = 2, name = "r"} : tensor<?x?x8xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A decay for each number of the state: each is a head, and the heads of one number are a group.
// CHECK-LABEL: moir.model @each
// CHECK:         opset1.Tile(%{{.*}}) : tensor<?x?x2x4x1xf32>
// CHECK:         opset5.Loop
// CHECK-NOT:     opset7.Roll
builtin.module {
  moir.model @each {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %t = opset1.Parameter() {name = "t"} : tensor<?x?x4xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<?x?x2xf32>
    %o = opset1.Parameter() {name = "o"} : tensor<?x?x2xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<?xsi32>
    %d = opset1.Constant() {value = #moir.data<tensor<4x2xf32>, [0.5, 1.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7]>} : tensor<4x2xf32>
    %k = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.5, 1.0, 0.1, 0.2]>} : tensor<4xf32>
    %y = transformers.SelectiveStateSpace(%x, %t, %i, %o, %d, %k, %b) {layer = 0, name = "r"} : tensor<?x?x4xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A loop that computes something else stays.
// CHECK-LABEL: moir.model @delta
// CHECK:         opset5.Loop
// CHECK:         opset7.Roll
builtin.module {
  moir.model @delta {
    %q = opset1.Parameter() {name = "q"} : tensor<?x?x4xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x?x4xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x?x6xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<?x?x2xf32>
    %t = opset1.Parameter() {name = "t"} : tensor<?x?x2xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<?xsi32>
    %d = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0.5, 1.0]>} : tensor<2xf32>
    %y = transformers.GatedDeltaRule(%q, %k, %v, %s, %t, %d, %d, %b) {key_heads = 1, heads = 2, layer = 0, name = "r"} : tensor<?x?x6xf32>
    opset1.Result(%y) {name = "y"}
  }
}
