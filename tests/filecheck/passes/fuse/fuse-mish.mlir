// RUN: moir-opt %s -p fuse-mish,eliminate-dead | filecheck %s

// x * tanh(softplus(x)).
// CHECK-LABEL: moir.model @mish {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset4.Mish(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// SoftPlus of something else.
// CHECK-LABEL: moir.model @other_operand {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Exp(%[[V0]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset4.SoftPlus(%[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Tanh(%[[V2]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Multiply(%[[V0]], %[[V3]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

builtin.module {
  moir.model @mish {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset4.SoftPlus(%0) : tensor<?x8xf32>
    %2 = opset1.Tanh(%1) : tensor<?x8xf32>
    %3 = opset1.Multiply(%0, %2) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
  moir.model @other_operand {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Exp(%0) : tensor<?x8xf32>
    %2 = opset4.SoftPlus(%1) : tensor<?x8xf32>
    %3 = opset1.Tanh(%2) : tensor<?x8xf32>
    %4 = opset1.Multiply(%0, %3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}
