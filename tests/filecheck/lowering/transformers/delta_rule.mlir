// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead | filecheck %s

// Each head of queries and keys serves two heads of values: GenAI's paged backend takes them for too few heads unless a
// Tile repeats them.
// CHECK-LABEL: moir.model @repeated_heads
// CHECK-NOT:     opset3.Broadcast({{.*}} : tensor<?x?x1x2x4xf32>
// CHECK:         opset1.Tile({{.*}} : tensor<?x?x1x2x4xf32>
// CHECK:         opset1.Tile({{.*}} : tensor<?x?x1x2x4xf32>
// CHECK:         %[[STRENGTHS:.*]] = opset1.Sigmoid(%s)
// CHECK:         opset1.Multiply(%[[STRENGTHS]], %{{.*}}) : tensor<?x?x2xf32>
// CHECK:         opset5.Loop(
builtin.module {
  moir.model @repeated_heads {
    %q = opset1.Parameter() {name = "q"} : tensor<?x?x4xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x?x4xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x?x6xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<?x?x2xf32>
    %t = opset1.Parameter() {name = "t"} : tensor<?x?x2xf32>
    %d = opset1.Parameter() {name = "d"} : tensor<2xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<?xsi32>
    %y = transformers.GatedDeltaRule(%q, %k, %v, %s, %t, %d, %d, %b) {key_heads = 1, heads = 2, layer = 0, strength_factor = 2.0, name = "r"} : tensor<?x?x6xf32>
    opset1.Result(%y) {name = "y"}
  }
}
