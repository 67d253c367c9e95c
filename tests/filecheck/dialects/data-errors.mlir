// RUN: moir-opt %s --split-input-file --verify-diagnostics

// expected-error@below {{2 values expected, 1 given}}
%a = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0]>} : tensor<2xf32>

// -----

// expected-error@below {{the type of #moir.data has a static shape and an element type of OpenVINO IR}}
%a = opset1.Constant() {value = #moir.data<tensor<?xf32>, [1.0]>} : tensor<?xf32>

// -----

// expected-error@below {{the type of #moir.data is a ranked tensor type}}
%a = opset1.Constant() {value = #moir.data<f32, [1.0]>} : tensor<1xf32>

// -----

// expected-error@below {{a value does not fit u8}}
%a = opset1.Constant() {value = #moir.data<tensor<1xui8>, [256]>} : tensor<1xui8>

// -----

// expected-error@below {{the side file '../secret.bin' is not in the folder of the text}}
%a = opset1.Constant() {value = #moir.data<tensor<32xf32>, "../secret.bin", 0>} : tensor<32xf32>

// -----

// expected-error@below {{absent.bin: cannot be read: No such file or directory}}
%a = opset1.Constant() {value = #moir.data<tensor<32xf32>, "absent.bin", 0>} : tensor<32xf32>

// -----

// expected-error-re@below {{data-errors.mlir: bytes 1000000 to 1000128 are beyond the end of the side file ({{[0-9]+}} bytes)}}
%a = opset1.Constant() {value = #moir.data<tensor<32xf32>, "data-errors.mlir", 1000000>} : tensor<32xf32>

// -----

// expected-error@below {{data-errors.mlir: bytes -64 to 64 are beyond the end of the side file}}
%a = opset1.Constant() {value = #moir.data<tensor<32xf32>, "data-errors.mlir", -64>} : tensor<32xf32>
