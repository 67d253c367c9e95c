// RUN: moir-opt %s -p 'set-batch{size=4 layout="x(cn->nc),z(?...)"}' | filecheck %s
// RUN: moir-opt %s -p 'set-batch{size=4 source-layout="x(c...n)" target-layout="z(nc)"}' | filecheck %s
// RUN: not moir-opt %s -p 'set-batch{size=4 layout="z(cn),x(cn)"}' 2>&1 | filecheck %s --check-prefix=ERROR

// The batch is the dimension that the layout calls so, in the model as it is; the first one of other inputs.
// CHECK:      opset1.Parameter() {name = "x"} : tensor<3x4xf32>
// CHECK-NEXT: opset1.Parameter() {name = "z"} : tensor<4x8xf32>

// ERROR: opset1.Parameter 'z': it has no batch that could be set to 4: its shape is [1,8]
builtin.module {
  moir.model @batch {
    %x = opset1.Parameter() {name = "x"} : tensor<3x?xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x8xf32>
    opset1.Result(%x) {name = "y"}
    opset1.Result(%z) {name = "u"}
  }
}
