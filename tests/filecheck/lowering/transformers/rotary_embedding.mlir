// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead --split-input-file | filecheck %s

// The angles are position * theta^(-2 i / size), each for the two dimensions of a pair.
// CHECK-LABEL: moir.model @rotation
// CHECK:         %[[FREQUENCIES:.*]] = opset1.Constant() {{.*}}[1.0, 0.1]>} : tensor<1x2x1xf32>
// CHECK:         %[[ANGLES:.*]] = opset1.MatMul(%[[FREQUENCIES]], %{{.*}}) : tensor<?x2x?xf32>
// CHECK:         %[[ROWS:.*]] = opset1.Transpose(%[[ANGLES]], %{{.*}}) : tensor<?x?x2xf32>
// CHECK-NEXT:    %[[BOTH:.*]] = opset1.Concat(%[[ROWS]], %[[ROWS]]) {axis = -1} : tensor<?x?x4xf32>
// CHECK-NEXT:    %[[COSINES:.*]] = opset1.Cos(%[[BOTH]])
// CHECK-NEXT:    %[[SINES:.*]] = opset1.Sin(%[[BOTH]])
// CHECK:         %c = opset1.Unsqueeze(%[[COSINES]], %{{.*}}) {{.*}} : tensor<?x1x?x4xf32>
// CHECK:         %s = opset1.Unsqueeze(%[[SINES]], %{{.*}}) {{.*}} : tensor<?x1x?x4xf32>
builtin.module {
  moir.model @rotation {
    %p = opset1.Parameter() {name = "p"} : tensor<?x?xsi64>
    %c, %s = transformers.RotaryEmbedding(%p) {size = 4, theta = 100.0, scaling = "default", name = "r"} : tensor<?x1x?x4xf32>, tensor<?x1x?x4xf32>
    opset1.Result(%c) {name = "c"}
    opset1.Result(%s) {name = "s"}
  }
}

// -----

// CHECK-LABEL: moir.model @linear_scaling
// CHECK:         opset1.Constant() {{.*}}[0.25, 0.025]>} : tensor<1x2x1xf32>
builtin.module {
  moir.model @linear_scaling {
    %p = opset1.Parameter() {name = "p"} : tensor<?x?xsi64>
    %c, %s = transformers.RotaryEmbedding(%p) {size = 4, theta = 100.0, scaling = "linear", factor = 4.0, name = "r"} : tensor<?x1x?x4xf32>, tensor<?x1x?x4xf32>
    opset1.Result(%c) {name = "c"}
    opset1.Result(%s) {name = "s"}
  }
}

// -----

// Queries grow beyond the length of the training: 1 + 0.5 · ln(1 + floor(position / 4)).
// CHECK-LABEL: moir.model @growth
// CHECK:         %[[PARTS:.*]] = opset1.Floor(%{{.*}}) : tensor<?x?x1xf32>
// CHECK:         opset1.Log(%{{.*}}) : tensor<?x?x1xf32>
// CHECK:         opset1.Add(%{{.*}}) {{.*}} : tensor<?x?x1xf32>
builtin.module {
  moir.model @growth {
    %p = opset1.Parameter() {name = "p"} : tensor<?x?xsi64>
    %f = transformers.LengthFactor(%p) {growth = 0.5, length = 4.0, name = "f"} : tensor<?x?x1xf32>
    opset1.Result(%f) {name = "y"}
  }
}
