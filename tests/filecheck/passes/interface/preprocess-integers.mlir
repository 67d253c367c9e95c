// RUN: moir-opt %s -p 'preprocess-inputs{reverse-input-channels=true}' | filecheck %s --check-prefix=REVERSED
// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="image(1,2,3)" scale=2.0}' | filecheck %s --check-prefix=LEFT
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="colors(1,2,3)"}' 2>&1 | filecheck %s --check-prefix=INTEGERS
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="image(70000)"}' 2>&1 | filecheck %s --check-prefix=RANGE

// The order of channels can be changed of integers, too.
// REVERSED: opset8.Gather(%c, %{{.*}}) : tensor<1x4x4x3xui8>

// LEFT: notes = ["not divided by the scale, as the model takes them as integers: colors"]
// LEFT: opset1.Constant() {value = #moir.data<tensor<1x1x1x3xf16>, [1.0, 2.0, 3.0]>}

// INTEGERS: input 'colors' of shape [1,4,4,3]: its values of type u8 are used as integers, of which no mean can be subtracted
// RANGE:    input 'image' of shape [1,4,4,3]: 70000.0 are outside of the range of its type f16
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "image"} : tensor<1x4x4x3xf16>
    %0 = opset1.Relu(%x) : tensor<1x4x4x3xf16>
    %c = opset1.Parameter() {name = "colors"} : tensor<1x4x4x3xui8>
    %1 = opset1.Maximum(%c, %c) : tensor<1x4x4x3xui8>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%1) {name = "z"}
  }
}
