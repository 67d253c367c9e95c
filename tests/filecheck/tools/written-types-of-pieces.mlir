// RUN: moir-opt %s --split-input-file --verify-diagnostics
// RUN: not moir-opt --split-input-file < %s 2>&1 | filecheck %s

// Lines are those of the file, also in pieces and from a pipe.
// CHECK: moir-opt: error: <stdin>:13:3: opset1.Convolution 'conv': the result is written as tensor<1x8x4x4xf32>, but its operands and properties give tensor<1x8x2x2xf32>
moir.model @fine {}

// -----
moir.model @strides {
  %x = opset1.Parameter() {name = "x"} : tensor<1x3x4x4xf32>
  %w = opset1.Constant() {value = #moir.data<tensor<8x3x1x1xf32>, elided "0">} : tensor<8x3x1x1xf32>
  // expected-error@below {{but its operands and properties give tensor<1x8x2x2xf32>}}
  %y = opset1.Convolution(%x, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], name = "conv"} : tensor<1x8x4x4xf32>
}

// -----
moir.model @number {
  %x = opset1.Parameter() {name = "x"} : tensor<1x3x4x4xf32>
  %w = opset1.Constant() {value = #moir.data<tensor<8x3x1x1xf32>, elided "0">} : tensor<8x3x1x1xf32>
  // expected-error-re@below {{opset1.Convolution 'conv': strides [0, 2] {{.*}}below 1}}
  %y = opset1.Convolution(%x, %w) {strides = [0, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], name = "conv"} : tensor<1x8x4x4xf32>
}

// -----
moir.model @element {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf16>
  // expected-error@below {{give tensor<2xf16>}}
  %y = opset1.Relu(%x) {name = "y"} : tensor<2xf32>
}

// -----
moir.model @body {
  %c = opset1.Parameter() {name = "c"} : tensor<i1>
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %y = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1], name = "if"} ({
    %p = opset1.Parameter() : tensor<2xf32>
    opset1.Result(%p)
  }, {
    %p = opset1.Parameter() : tensor<2xf32>
    // expected-error@below {{opset1.Abs 'inner': the result is written as tensor<3xf32>}}
    %a = opset1.Abs(%p) {name = "inner"} : tensor<3xf32>
    opset1.Result(%a)
  }) : tensor<2xf32>
}
