// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="image(1,2,3)" scale=4.0 reverse-input-channels=true}' | filecheck %s --check-prefix=ALL
// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="(1,2,3),(),()" scale-values="image(5),depth(6)"}' | filecheck %s --check-prefix=POSITIONS
// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="bytes(7,8,9,10)" source-layout="bytes(c...)"}' | filecheck %s --check-prefix=BYTES
// RUN: moir-opt %s -p 'preprocess-inputs{reverse-input-channels=true layout="depth(nc)"}' | filecheck %s --check-prefix=DYNAMIC
// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="depth(1,2)" target-layout="depth(nc)"}' | filecheck %s --check-prefix=REFINED
// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="image(0,0,0)" scale-values="depth(1)"}' | filecheck %s --check-prefix=NOTHING
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="image(1,2)"}' 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="image(1,2)" layout="image(nchw)"}' 2>&1 | filecheck %s --check-prefix=LAYOUT
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="image(1,2)" layout="image(nxhw)"}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="image(1,2,3)" scale-values="image(1,2)"}' 2>&1 | filecheck %s --check-prefix=DIFFER
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="(1,2,3)"}' 2>&1 | filecheck %s --check-prefix=NUMBER
// RUN: not moir-opt %s -p 'preprocess-inputs{scale-values="imag(1,2,3)"}' 2>&1 | filecheck %s --check-prefix=NAME

// First the channels are reversed, then the mean is subtracted, then the difference divided. An input of integers is
// preprocessed after the conversion of the model; ShapeOf needs no preprocessed data.
// ALL:      notes = ["channels are reversed of image; others have not three: bytes [4,?], depth [?,?]"]
// ALL:      %x = opset1.Parameter() {name = "image"} : tensor<?x3x8x8xf32>
// ALL-NEXT: opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 1, 0]>}
// ALL-NEXT: opset1.Constant() {value = #moir.data<tensor<si64>, [1]>}
// ALL-NEXT: %[[R:.*]] = opset8.Gather(%x, %{{.*}})
// ALL-NEXT: opset1.Constant() {value = #moir.data<tensor<1x3x1x1xf32>, [1.0, 2.0, 3.0]>}
// ALL-NEXT: %[[M:.*]] = opset1.Subtract(%[[R]], %{{.*}})
// ALL-NEXT: opset1.Constant() {value = #moir.data<tensor<f32>, [4.0]>}
// ALL-NEXT: %[[D:.*]] = opset1.Divide(%[[M]], %{{.*}})
// ALL-NEXT: opset3.ShapeOf(%x)
// ALL-NEXT: opset1.Relu(%[[D]])
// ALL:      %[[C:.*]] = opset1.Convert(%b)
// ALL:      %[[B:.*]] = opset1.Divide(%[[C]], %{{.*}})
// ALL-NEXT: opset1.Abs(%[[B]])
// ALL:      opset1.Divide(%d, %{{.*}})

// POSITIONS:     opset1.Subtract(%x, %{{.*}})
// POSITIONS:     opset1.Constant() {value = #moir.data<tensor<f32>, [5.0]>}
// POSITIONS-NOT: opset1.Subtract
// POSITIONS:     opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>}

// BYTES:      opset1.Convert(%b)
// BYTES-NEXT: opset1.Constant() {value = #moir.data<tensor<4x1xf32>, [7.0, 8.0, 9.0, 10.0]>}
// BYTES-NEXT: opset1.Subtract

// However many channels there are at run time.
// DYNAMIC: opset8.Slice(%d,

// With numbers for two channels there are two.
// REFINED:      opset1.Parameter() {name = "depth"} : tensor<?x2xf32>
// REFINED:      opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [1.0, 2.0]>}
// REFINED:      opset1.Exp(%{{.*}}) : tensor<?x2xf32>

// NOTHING-NOT: opset1.Subtract
// NOTHING-NOT: opset1.Divide
// NOTHING:     opset1.Exp(%d)

// COUNT:  input 'image' of shape [?,3,8,8]: no dimension is certain to be 2 channels; say which dimension the channels are, as in --layout 'image(nchw)'
// LAYOUT: input 'image' of shape [?,3,8,8]: there are 3 channels in the layout nchw, not 2
// NONE:   input 'image' of shape [?,3,8,8]: the layout nxhw has no channels; name the channels c in the layout
// DIFFER: input 'image' of shape [?,3,8,8]: it has means for 3 channels and scales for 2
// NUMBER: 1 mean and 3 inputs do not go together; name the inputs of the model: image, bytes, depth
// NAME:   no input is named 'imag', which has a scale; did you mean image?
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "image"} : tensor<?x3x8x8xf32>
    %s = opset3.ShapeOf(%x) : tensor<4xsi64>
    %0 = opset1.Relu(%x) : tensor<?x3x8x8xf32>
    %b = opset1.Parameter() {name = "bytes"} : tensor<4x?xui8>
    %1 = opset1.Convert(%b) {destination_type = f32} : tensor<4x?xf32>
    %2 = opset1.Abs(%1) : tensor<4x?xf32>
    %d = opset1.Parameter() {name = "depth"} : tensor<?x?xf32>
    %3 = opset1.Exp(%d) : tensor<?x?xf32>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%2) {name = "z"}
    opset1.Result(%s) {name = "s"}
    opset1.Result(%3) {name = "e"}
  }
}
