// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead --split-input-file | filecheck %s

// A gate for all features of a head.
// CHECK-LABEL: moir.model @heads
// CHECK:         %[[GATES:.*]] = opset4.SoftPlus(%g) : tensor<?x?x2xf32>
// CHECK:         %[[PARTS:.*]] = opset1.Reshape(%x, %{{.*}}) {special_zero = true} : tensor<?x?x2x4xf32>
// CHECK:         %[[WIDE:.*]] = opset1.Unsqueeze(%[[GATES]], %{{.*}}) : tensor<?x?x2x1xf32>
// CHECK-NEXT:    %[[GATED:.*]] = opset1.Multiply(%[[PARTS]], %[[WIDE]])
// CHECK:         opset1.Reshape(%[[GATED]], %{{.*}}) {special_zero = true{{.*}}} : tensor<?x?x8xf32>
builtin.module {
  moir.model @heads {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x8xf32>
    %g = opset1.Parameter() {name = "g"} : tensor<?x?x2xf32>
    %y = transformers.Gate(%x, %g) {activation = "softplus", heads = 2, name = "n"} : tensor<?x?x8xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @features
// CHECK:         %[[GATES:.*]] = opset1.Sigmoid(%g)
// CHECK-NEXT:    opset1.Multiply(%x, %[[GATES]])
builtin.module {
  moir.model @features {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x8xf32>
    %g = opset1.Parameter() {name = "g"} : tensor<?x?x8xf32>
    %y = transformers.Gate(%x, %g) {name = "n"} : tensor<?x?x8xf32>
    opset1.Result(%y) {name = "y"}
  }
}
