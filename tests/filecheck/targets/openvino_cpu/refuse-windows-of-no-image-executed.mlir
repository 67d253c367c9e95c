// RUN: moir-opt %s -p refuse-windows-of-no-image | filecheck %s

// CHECK-LABEL: moir.model @executed
builtin.module {
  moir.model @executed {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x?x?xf32>
    %y, %i = opset14.MaxPool(%x) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2], auto_pad = "explicit", rounding_type = "floor", index_element_type = si64, axis = 0, name = "pool"} : tensor<1x1x?x?xf32>, tensor<1x1x?x?xsi64>
    opset1.Result(%y) {name = "out"}
  }
}
