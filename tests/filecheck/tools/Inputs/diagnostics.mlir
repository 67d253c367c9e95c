moir.model @m {
  %x = opset1.Parameter() : tensor<2xf32>
  // expected-error@below {{of another kind}}
  %y = opset1.Abs(%x) {name = "y"} : tensor<3xf32>
}

// -----

moir.model @m {} // expected-error {{no lowering}}
  // expected-warning@+1 {{unused}}


// -----


moir.model @two { onnx.Nothing() {name = "n"} }
