// RUN: not moir-opt %s 2>&1 | filecheck %s

// A graph region would accept this, and so does xDSL; ours is in order.
// CHECK: order.mlir:6:{{[0-9]+}}: %y is used before its definition
moir.model @m {
  %x = opset1.Relu(%y) : tensor<f32>
  %y = opset1.Parameter() : tensor<f32>
}
