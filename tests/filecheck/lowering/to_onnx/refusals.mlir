// RUN: moir-opt %s -p 'lower-to-onnx{opset=13}' --split-input-file --verify-diagnostics

builtin.module {
  moir.model @unknown {
    %x = opset1.Parameter() {name = "x"} : tensor<1x8x4x4xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<3x5xf32>
    // expected-error @below {{opset1.PSROIPooling 'pool': ONNX has no counterpart of opset1.PSROIPooling}}
    %r = opset1.PSROIPooling(%x, %b) {name = "pool", output_dim = 2, group_size = 2, spatial_scale = 1.0, mode = "average", spatial_bins_x = 1, spatial_bins_y = 1} : tensor<3x2x2x2xf32>
    opset1.Result(%r) {name = "r"}
  }
}

// -----

builtin.module {
  moir.model @later {
    %x = opset1.Parameter() {name = "x"} : tensor<4xsi32>
    // expected-error @below {{it can be written from version 18 of the operator set on}}
    %r = opset13.BitwiseAnd(%x, %x) {name = "and"} : tensor<4xsi32>
    opset1.Result(%r) {name = "r"}
  }
}
