// RUN: moir-opt %s -p 'set-layouts{layout="image(nhwc->nchw),y(nhwc->nchw)"}' | filecheck %s --check-prefix=CHANGED
// RUN: moir-opt %s -p 'set-layouts{source-layout="image[n,h,w,channels]"}' | filecheck %s --check-prefix=RECORDED
// RUN: moir-opt %s -p 'set-layouts{source-layout="nhwc" target-layout="n?h?"}' | filecheck %s --check-prefix=PARTLY
// RUN: moir-opt %s -p 'set-layouts{layout="image(n...c->nc...)"}' | filecheck %s --check-prefix=MANY
// RUN: moir-opt %s -p 'set-layouts{target-layout="image(nchw)"}' | filecheck %s --check-prefix=UNKNOWN
// RUN: moir-opt %s -p 'set-layouts{layout="image(nhwc->[n,c,h*w])"}' | filecheck %s --check-prefix=SPLIT
// RUN: moir-opt %s -p 'set-layouts{layout="image([n,h,w*k,c]->[n,c,h,w,k])"}' | filecheck %s --check-prefix=FUSED
// RUN: moir-opt %s -p 'set-layouts{layout="y(nhwc->[n,c,h*w])"}' | filecheck %s --check-prefix=OUTPUT
// RUN: moir-opt %s -p 'set-layouts{layout="image(nhwc->[c,w*h,n])"}' | filecheck %s --check-prefix=COMPUTED
// RUN: not moir-opt %s -p 'set-layouts{layout="imag(nhwc)"}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: not moir-opt %s -p 'set-layouts{layout="image(nhw->nwh)"}' 2>&1 | filecheck %s --check-prefix=RANK
// RUN: not moir-opt %s -p 'set-layouts{layout="image(nhwc->nhdc)"}' 2>&1 | filecheck %s --check-prefix=COUNTERPART
// RUN: not moir-opt %s -p 'set-layouts{layout="relu([n,h,w*k,c]->nhwkc)"}' 2>&1 | filecheck %s --check-prefix=UNSPLIT
// RUN: not moir-opt %s -p 'set-layouts{layout="image(nhwc),image:0(nhwc)"}' 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not moir-opt %s -p 'set-layouts{layout="image(nhw c"}' 2>&1 | filecheck %s --check-prefix=SYNTAX

// One Transpose after the input, and one before the output, which takes over the names of the tensor.
// CHANGED:      %x = opset1.Parameter() {bounds = "1..8,3,32,?", name = "image", tensor_names = ["image,image:0"],
// CHANGED-SAME:     dimension_names = ["batch", "", "", "width"],
// CHANGED-SAME:     runtime_info = {layout = {version = "0", layout = "[N,C,H,W]"}}} : tensor<?x3x32x?xf32>
// CHANGED-NEXT: opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHANGED-NEXT: %[[IN:.*]] = opset1.Transpose(%x, %{{.*}}) : tensor<?x32x?x3xf32>
// CHANGED-NEXT: %[[RELU:.*]] = opset1.Relu(%[[IN]]) {name = "relu"} : tensor<?x32x?x3xf32>
// CHANGED-NEXT: opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHANGED-NEXT: %[[OUT:.*]] = opset1.Transpose(%[[RELU]], %{{.*}}) {tensor_names = ["relu:0"], name = "y"}
// CHANGED-NEXT: opset1.Result(%[[OUT]]) {name = "y", runtime_info = {layout = {version = "0", layout = "[N,C,H,W]"}}}

// A layout that stays is recorded, as the runtime spells it.
// RECORDED:      opset1.Parameter()
// RECORDED-SAME:     runtime_info = {layout = {version = "0", layout = "[N,H,W,C]"}}} : tensor<?x32x?x3xf32>
// RECORDED-NEXT: opset1.Relu(%x)

// Dimensions without a name are the remaining ones in their order.
// PARTLY:      layout = "[N,W,H,C]"}}} : tensor<?x?x32x3xf32>
// PARTLY-NEXT: opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>}

// MANY:      layout = "[N,C,?,?]"}}} : tensor<?x3x32x?xf32>
// MANY-NEXT: opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}

// Without the layout of the model there is nothing to transpose.
// UNKNOWN:      notes = ["'image' stays as it is: its layout in the model, which is to become nchw, is not given"]
// UNKNOWN:      layout = "[N,C,H,W]"}}} : tensor<?x32x?x3xf32>
// UNKNOWN-NEXT: opset1.Relu(%x)

// A dimension into which callers fuse two is split.
// SPLIT:      layout = "[N,C,?]"}}} : tensor<?x3x?xf32>
// SPLIT-NEXT: opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 32, -1]>}
// SPLIT-NEXT: opset1.Reshape(%x, %{{.*}}) {special_zero = true} : tensor<?x3x32x?xf32>
// SPLIT-NEXT: opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// SPLIT-NEXT: opset1.Transpose

// FUSED:      layout = "[N,C,H,W,K]"}}} : tensor<?x3x32x?x?xf32>
// FUSED:      opset1.Transpose(%x, %{{.*}}) : tensor<?x32x?x?x3xf32>
// FUSED-NEXT: opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 32, -1, 3]>}
// FUSED-NEXT: opset1.Reshape

// OUTPUT:      opset1.Transpose(%{{.*}}) : tensor<?x3x32x?xf32>
// OUTPUT-NEXT: opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 3, -1]>}
// OUTPUT-NEXT: opset1.Reshape(%{{.*}}) {special_zero = true, tensor_names = ["relu:0"], name = "y"} : tensor<?x3x?xf32>

// Several unknown sizes at other places are computed from the shape.
// COMPUTED:      layout = "[C,?,N]"}}} : tensor<3x?x?xf32>
// COMPUTED-NEXT: opset3.ShapeOf(%x)
// COMPUTED:      opset1.Divide
// COMPUTED:      opset1.Reshape(%x, %{{.*}}) {special_zero = false} : tensor<3x?x32x?xf32>
// COMPUTED:      opset1.Transpose(%{{.*}}) : tensor<?x32x?x3xf32>

// NAME:        no input or output is named 'imag', which has a layout; did you mean image?
// RANK:        input 'image' of shape [?,32,?,3]: the layout nhw has 3 dimensions, not 4
// COUNTERPART: input 'image' of shape [?,32,?,3]: nhwc->nhdc: 'w' has no counterpart, and neither has 'd'
// UNSPLIT:     output 'y' of shape [?,32,?,3]: dimension 2 cannot be split into 2 of sizes ?, ?
// TWICE:       'image' and 'image:0' are names of one Parameter, which has two layouts
// SYNTAX:      'image(nhw c': ')' is missing at the end
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {bounds = "1..8,32,?,3", name = "image", tensor_names = ["image,image:0"], dimension_names = ["batch", "", "width", ""]} : tensor<?x32x?x3xf32>
    %0 = opset1.Relu(%x) {name = "relu", tensor_names = ["relu:0"]} : tensor<?x32x?x3xf32>
    opset1.Result(%0) {name = "y"}
  }
}
