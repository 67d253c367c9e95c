// RUN: moir-opt %s -p check-lowered --split-input-file --verify-diagnostics

// The model can end before operations that only outputs follow, provided that an operation is left.
builtin.module {
  moir.model @last {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %a = opset1.Relu(%x) {name = "a"} : tensor<2xf32>
    // expected-error-re@below {{; or end the model before it: --output a{{$}}}}
    %b = onnx.Nope(%a, %x) {name = "b"} : tensor<*x!moir.dynamic>
    opset1.Result(%b) {name = "y"}
  }
}

// -----

builtin.module {
  moir.model @chain {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %a = opset1.Relu(%x) {name = "a"} : tensor<2xf32>
    // expected-error-re@below {{no lowering for 2 kinds of operation{{.*}}; or end the model before it: --output a{{$}}}}
    %b = onnx.Nope(%a) {name = "b"} : tensor<*x!moir.dynamic>
    %c = onnx.Neither(%b) {name = "c"} : tensor<*x!moir.dynamic>
    opset1.Result(%c) {name = "y"}
  }
}

// -----

builtin.module {
  moir.model @only {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    // expected-error-re@below {{to start from{{$}}}}
    %b = onnx.Nope(%x) {name = "b"} : tensor<*x!moir.dynamic>
    opset1.Result(%b) {name = "y"}
  }
}

// -----

builtin.module {
  moir.model @within {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %a = opset1.Relu(%x) {name = "a"} : tensor<2xf32>
    // expected-error-re@below {{to start from{{$}}}}
    %b = onnx.Nope(%a) {name = "b"} : tensor<*x!moir.dynamic>
    %c = opset1.Relu(%b) {name = "c"} : tensor<*x!moir.dynamic>
    opset1.Result(%c) {name = "y"}
  }
}
