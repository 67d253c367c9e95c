// RUN: not moir-opt %s -p refuse-ranks-of-inputs 2>&1 | filecheck %s

// CHECK: opset1.Reshape 'r': the length of input 's' is dynamic, and so the rank of the result, which the CPU plugin has to know; give the inputs static shapes
builtin.module {
  moir.model @refused {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<?xsi64>
    %y = opset1.Reshape(%x, %s) {special_zero = false, name = "r"} : tensor<*xf32>
    opset1.Result(%y) {name = "out"}
  }
}
