// RUN: moir-opt %s -p pad-before-convolutions --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @signal
// CHECK:           %[[P:.*]] = opset12.Pad(%x, {{.*}}) {pad_mode = "constant"} : tensor<?x4x?xf32>
// CHECK:           %[[S:.*]] = opset1.PRelu(%[[P]], {{.*}})
// CHECK-NEXT:      opset1.Convolution(%[[S]], %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [0], name = "c"}
builtin.module {
  moir.model @signal {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x?xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<8x4x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1], name = "c"} : tensor<?x8x?xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Every window has an element of the image.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Pad
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x?xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<8x4x2xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1], dilations = [2], pads_begin = [3], pads_end = [2]} : tensor<?x8x?xf32>
    opset1.Result(%1) {name = "y"}
  }
}
