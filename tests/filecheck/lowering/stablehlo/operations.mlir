// RUN: moir-opt %s -p lower-stablehlo --split-input-file | filecheck %s

// CHECK-LABEL: @product
moir.model @product {
  %a = opset1.Parameter() {name = "a"} : tensor<2x3xf32>
  %b = opset1.Parameter() {name = "b"} : tensor<4x3xf32>
  // CHECK: opset1.MatMul(%a, %b) {transpose_b = true
  %y = stablehlo.dot_general(%a, %b) {lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], name = "dot"} : tensor<2x4xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// The dimensions that JAX adds again after a reduction are kept.
// CHECK-LABEL: @kept
moir.model @kept {
  %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
  %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
  %s = stablehlo.reduce(%x, %zero) {dimensions = [1], name = "sum"} ({
    %p = opset1.Parameter() : tensor<f32>
    %q = opset1.Parameter() : tensor<f32>
    %r = stablehlo.add(%p, %q) : tensor<f32>
    opset1.Result(%r)
  }) : tensor<2xf32>
  // CHECK: opset1.ReduceSum(%x, %{{.*}}) {keep_dims = true
  // CHECK-SAME: tensor<2x1xf32>
  %k = stablehlo.broadcast_in_dim(%s) {broadcast_dimensions = [0], name = "keep"} : tensor<2x1xf32>
  opset1.Result(%k) {name = "y"}
}

// -----

// What a loop hands on unchanged is no state.
// CHECK-LABEL: @loop
moir.model @loop {
  %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<si32>
  // CHECK: opset5.Loop
  // CHECK-COUNT-2: opset1.Parameter
  // CHECK: opset1.Result
  // CHECK-NEXT: opset1.Result
  // CHECK-NEXT: })
  %y, %n = stablehlo.while(%x, %i) {captured = 0, name = "while"} ({
    %a = opset1.Parameter() : tensor<4xf32>
    %b = opset1.Parameter() : tensor<si32>
    %limit = opset1.Constant() {value = #moir.data<tensor<si32>, [5]>} : tensor<si32>
    %c = stablehlo.compare(%b, %limit) {comparison_direction = "LT"} : tensor<i1>
    opset1.Result(%c)
  }, {
    %a = opset1.Parameter() : tensor<4xf32>
    %b = opset1.Parameter() : tensor<si32>
    %one = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
    %d = stablehlo.add(%b, %one) : tensor<si32>
    opset1.Result(%a)
    opset1.Result(%d)
  }) : tensor<4xf32>, tensor<si32>
  opset1.Result(%n) {name = "n"}
}
