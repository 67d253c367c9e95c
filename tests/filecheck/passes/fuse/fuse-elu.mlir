// RUN: moir-opt %s -p fuse-elu,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: @elu
moir.model @elu {
  %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
  %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %p = opset1.Less(%zero, %x) : tensor<?x8xi1>
  %s = opset1.Select(%p, %zero, %x) : tensor<?x8xf32>
  %e = opset1.Exp(%s) : tensor<?x8xf32>
  %r = opset1.Subtract(%e, %one) : tensor<?x8xf32>
  // CHECK: opset1.Elu(%x) {alpha = 1.0, name = "y"}
  %y = opset1.Select(%p, %x, %r) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @selu
moir.model @selu {
  %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
  %alpha = opset1.Elu(%x) {alpha = 1.6732632} : tensor<?x8xf32>
  %l = opset1.Constant() {value = #moir.data<tensor<f32>, [1.050701]>} : tensor<f32>
  // CHECK: opset1.Selu(%x, %{{.*}}, %{{.*}}) {name = "y"}
  %y = opset1.Multiply(%alpha, %l) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// Another multiple of an Elu, and another threshold.
// CHECK-LABEL: @others
moir.model @others {
  %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %two = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
  %a = opset1.Elu(%x) {alpha = 1.0} : tensor<?x8xf32>
  // CHECK: opset1.Multiply
  %b = opset1.Multiply(%a, %two) : tensor<?x8xf32>
  %p = opset1.Greater(%b, %two) : tensor<?x8xi1>
  %e = opset1.Exp(%b) : tensor<?x8xf32>
  %r = opset1.Subtract(%e, %one) : tensor<?x8xf32>
  // CHECK: opset1.Select
  %y = opset1.Select(%p, %b, %r) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}
