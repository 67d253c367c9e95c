// RUN: moir-opt %s -p lower-paddle --split-input-file --verify-diagnostics

// Lists that have other numbers of entries than axes are errors with the name of the node.
builtin.module {
  moir.model @slice {
    %x = opset1.Parameter() {name = "x"} : tensor<4x5xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    // expected-error@+1 {{operand 1 has 1 numbers for 2 axes}}
    %0 = paddle.slice(%x, %one, %two) {axes = [0, 1], name = "slice"} : tensor<*x!moir.dynamic>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

builtin.module {
  moir.model @set {
    %x = opset1.Parameter() {name = "x"} : tensor<4x5xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<1x1xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    // expected-error@+1 {{operand 3 has 1 numbers for 2 axes}}
    %0 = paddle.set_value(%x, %two, %two, %one, %v) {axes = [0, 1], name = "set"} : tensor<*x!moir.dynamic>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

builtin.module {
  moir.model @pool {
    %x = opset1.Parameter() {name = "x"} : tensor<4x5x6xf32>
    %two = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 2]>} : tensor<2xsi64>
    // expected-error@+1 {{it has data of 3 dimensions, not 4}}
    %0 = paddle.pool2d(%x, %two) {adaptive = true, pooling_type = "avg", name = "pool"} : tensor<*x!moir.dynamic>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

builtin.module {
  moir.model @prior {
    %x = opset1.Parameter() {name = "x"} : tensor<1x4x5x6xf32>
    // expected-error@+1 {{boxes of sizes [2.0] and aspect ratios [0.0], which have to be positive}}
    %0, %1 = paddle.prior_box(%x, %x) {min_sizes = [2.0], aspect_ratios = [0.0], flip = true, name = "prior"} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
    opset1.Result(%0) {name = "y"}
  }
}
