// RUN: moir-opt %s --split-input-file --verify-diagnostics

moir.model @m {
  %x = opset1.Parameter() : tensor<2xf32>
  // expected-error@below {{opset8.Softmax 'two': Expected 1 operand, but got 2}}
  %y = opset8.Softmax(%x, %x) {name = "two"} : tensor<2xf32>
}

// -----

moir.model @m {
  %x = opset1.Parameter() : tensor<1x1x4x4xf32>
  // expected-error@below {{opset1.MaxPool: 'half' is not one of ceil, ceil_torch, floor}}
  %y = opset1.MaxPool(%x) {strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2], rounding_type = "half"} : tensor<1x1x2x2xf32>
}

// -----

moir.model @m {
  %x = opset1.Parameter() : tensor<2xf32>
  // expected-error-re@below {{opset1.Softmax 'p': {{.*}}slope}}
  %y = opset1.Softmax(%x) {slope = 1, name = "p"} : tensor<2xf32>
}

// -----

moir.model @m {
  %c = opset1.Parameter() : tensor<i1>
  // expected-error@below {{opset8.If 'if': then_inputs has 0 entries for 1 Parameters}}
  %y = opset8.If(%c) {name = "if"} ({
    %p = opset1.Parameter() : tensor<2xf32>
    opset1.Result(%p)
  }, {
    %p = opset1.Parameter() : tensor<2xf32>
    opset1.Result(%p)
  }) : tensor<2xf32>
}

// -----

moir.model @m {
  %n = opset1.Parameter() : tensor<si64>
  %t = opset1.Parameter() : tensor<i1>
  // expected-error@below {{opset5.Loop: the body has no Result 3}}
  opset5.Loop(%n, %t) {inputs = [], outputs = [], condition = 3} ({
    %p = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    opset1.Result(%p)
  })
}

// -----

moir.model @m {
  %x = opset1.Parameter() : tensor<4xf32>
  %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  // expected-error@below {{opset1.StridedSlice: end_mask has entries other than 0 and 1}}
  %y = opset1.StridedSlice(%x, %s, %s) {begin_mask = [1], end_mask = [2]} : tensor<?xf32>
}
