// RUN: moir-opt %s -p "lower-transformers,fuse-normalize-l2,count-axes-from-first,copy-loop-slices,step-by-delta-rule,eliminate-dead" --split-input-file | filecheck %s

// The scale is computed, lengths are written out, axes count from the last one, and slices have no copies.
// CHECK-LABEL: moir.model @delta
// CHECK:         %[[FLOAT:.*]] = opset1.Convert(%{{.*}}) {destination_type = f32} : tensor<f32>
// CHECK:         %[[ROOT:.*]] = opset1.Power(%[[FLOAT]], %{{.*}})
// CHECK-NEXT:    %[[QUERY:.*]] = opset1.Divide(%{{.*}}, %[[ROOT]]) : tensor<?x2x?x4xf32>
// CHECK:         opset5.Loop(%{{.*}}, %{{.*}}, %[[QUERY]], %{{.*}})
// CHECK-NOT:     opset7.Roll
// CHECK:         %[[LAST:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>}
// CHECK-NEXT:    opset1.Unsqueeze(%{{.*}}, %[[LAST]]) : tensor<?x2x1x1xf32>
// CHECK:         opset1.Squeeze
// CHECK-NOT:     opset15.Squeeze
// CHECK:         %[[ROWS:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-2]>}
// CHECK-NEXT:    opset1.ReduceSum(%{{.*}}, %[[ROWS]]) : tensor<?x2x3xf32>
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

// -----

// A loop that computes something else stays.
// CHECK-LABEL: moir.model @scan
// CHECK:         opset5.Loop
// CHECK-NOT:     opset1.Power
builtin.module {
  moir.model @scan {
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
