// RUN: moir-opt %s -p pad-before-indexing --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @unknown
// CHECK:           %[[PAD:[0-9]+]] = opset12.Pad(%x, {{.*}}) {pad_mode = "constant"} : tensor<1x2x?x?xf32>
// CHECK:           %{{[0-9]+}}, %[[I:[0-9]+]] = opset14.MaxPool(%[[PAD]]) {{{.*}}auto_pad = "valid"{{.*}}axis = 2{{.*}}}
// CHECK:           opset1.FloorMod(%[[I]], %{{[0-9]+}})
builtin.module {
  moir.model @unknown {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x?x?xf32>
    %1, %2 = opset14.MaxPool(%x) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [3, 3], auto_pad = "same_upper", axis = 2} : tensor<1x2x?x?xf32>, tensor<1x2x?x?xsi64>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "i"}
  }
}

// -----

// The indices are not used.
// CHECK-LABEL: moir.model @values
// CHECK-NOT:       Pad(
// CHECK:           opset14.MaxPool(%x)
builtin.module {
  moir.model @values {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x?x?xf32>
    %1, %2 = opset14.MaxPool(%x) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [3, 3], auto_pad = "same_upper", axis = 2} : tensor<1x2x?x?xf32>, tensor<1x2x?x?xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @known
// CHECK-NOT:       Pad(
// CHECK:           opset14.MaxPool(%x)
builtin.module {
  moir.model @known {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x4x5xf32>
    %1, %2 = opset14.MaxPool(%x) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [3, 3], auto_pad = "same_upper", axis = 2} : tensor<1x2x2x3xf32>, tensor<1x2x2x3xsi64>
    opset1.Result(%2) {name = "i"}
  }
}
