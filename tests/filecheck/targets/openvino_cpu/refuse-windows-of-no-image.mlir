// RUN: not moir-opt %s -p refuse-windows-of-no-image 2>&1 | filecheck %s

// CHECK: opset14.MaxPool 'pool': the CPU plugin has no windows of no image; give the inputs static shapes, or another batch
builtin.module {
  moir.model @refused {
    %x = opset1.Parameter() {name = "x"} : tensor<0x1x?x?xf32>
    %y, %i = opset14.MaxPool(%x) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2], auto_pad = "explicit", rounding_type = "floor", index_element_type = si64, axis = 0, name = "pool"} : tensor<0x1x?x?xf32>, tensor<0x1x?x?xsi64>
    opset1.Result(%y) {name = "out"}
  }
}
