// RUN: moir-opt %s -p "round-windows-up,eliminate-dead" --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @same
// CHECK:           opset8.MaxPool(%x) {{.*}}rounding_type = "ceil"
builtin.module {
  moir.model @same {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x9x?xf32>
    %y, %i = opset14.MaxPool(%x) {kernel = [3, 3], strides = [2, 2], pads_begin = [0, 0], pads_end = [1, 0], rounding_type = "ceil_torch"} : tensor<?x4x5x?xf32>, tensor<?x4x5x?xsi64>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A last window may start in the padding, or indices are used.
// CHECK-LABEL: moir.model @kept
// CHECK-NOT:       opset8.MaxPool
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x9x?xf32>
    %y, %i = opset14.MaxPool(%x) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [1, 0], rounding_type = "ceil_torch"} : tensor<?x4x5x?xf32>, tensor<?x4x5x?xsi64>
    opset1.Result(%y) {name = "y"}
    %z, %j = opset14.MaxPool(%x) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], rounding_type = "ceil_torch"} : tensor<?x4x5x?xf32>, tensor<?x4x5x?xsi64>
    opset1.Result(%z) {name = "z"}
    opset1.Result(%j) {name = "j"}
  }
}
