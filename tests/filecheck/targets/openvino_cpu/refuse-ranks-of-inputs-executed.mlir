// RUN: moir-opt %s -p refuse-ranks-of-inputs | filecheck %s

// CHECK-LABEL: moir.model @executed
builtin.module {
  moir.model @executed {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %a = opset1.Parameter() {name = "a"} : tensor<*xf32>
    %s = opset3.ShapeOf(%a) : tensor<?xsi64>
    %y = opset1.Reshape(%x, %s) {special_zero = false, name = "r"} : tensor<*xf32>
    opset1.Result(%y) {name = "out"}
  }
}
