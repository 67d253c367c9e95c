// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="x(1,2,3)" layout="x(nchw)"}' | filecheck %s --check-prefix=MEAN
// RUN: moir-opt %s -p 'preprocess-inputs{reverse-input-channels=true layout="x(nhwc)"}' | filecheck %s --check-prefix=ORDER
// RUN: moir-opt %s -p 'preprocess-inputs{mean-values="x(5)"}' | filecheck %s --check-prefix=ONE
// RUN: moir-opt %s -p 'set-layouts{layout="x(nhwc->nchw)"}' | filecheck %s --check-prefix=LAYOUT
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="x(1,2,3)" layout="x(n...c)"}' 2>&1 | filecheck %s --check-prefix=MANY
// RUN: not moir-opt %s -p 'preprocess-inputs{mean-values="x(1,2,3)"}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not moir-opt %s -p 'set-layouts{layout="x(n...c->nc...)"}' 2>&1 | filecheck %s --check-prefix=CHANGE

// A layout says the rank; the output that the input was keeps its name.
// MEAN:      %x = opset1.Parameter() {name = "x"} : tensor<?x3x?x?xf32>
// MEAN-NEXT: opset1.Constant() {value = #moir.data<tensor<1x3x1x1xf32>, [1.0, 2.0, 3.0]>}
// MEAN-NEXT: %[[M:.*]] = opset1.Subtract(%x, %{{.*}}) {name = "z"} : tensor<?x3x?x?xf32>
// MEAN-NEXT: opset1.Relu(%[[M]]) : tensor<?x3x?x?xf32>

// ORDER: opset8.Slice(%x, %{{.*}}) {name = "z"} : tensor<?x?x?x?xf32>

// ONE: opset1.Subtract(%x, %{{.*}}) {name = "z"} : tensor<*xf32>

// LAYOUT: opset1.Transpose(%x, %{{.*}}) {name = "z"} : tensor<?x?x?x?xf32>

// MANY:   input 'x' of shape [...]: how many dimensions it has, neither the model says nor the layout n...c
// NONE:   input 'x' of shape [...]: no dimension is certain to be 3 channels; say which dimension the channels are
// CHANGE: input 'x' of shape [...]: n...c says nothing of the number of dimensions, and the model neither
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %0 = opset1.Relu(%x) : tensor<*xf32>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%x) {name = "z"}
  }
}
