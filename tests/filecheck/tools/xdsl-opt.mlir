// RUN: xdsl-opt %s -p fuse-swish | filecheck %s
// RUN: env COLUMNS=100000 xdsl-opt --help | filecheck %s --check-prefix=HELP

builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %n = onnx.Relu(%x) {name = "n"} : tensor<2xf32>
    %g = opset1.Sigmoid(%n) : tensor<2xf32>
    %y = opset1.Multiply(%n, %g) {name = "y"} : tensor<2xf32>
    opset1.Result(%y) {name = "r"}
  }
}

// CHECK: onnx.Relu(%x) {name = "n"}
// CHECK: opset4.Swish(%n) {name = "y"} : tensor<2xf32>
// HELP: fuse-swish
