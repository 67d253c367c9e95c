// RUN: moir-opt %s -p fuse-sigmoid,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: @sigmoid
moir.model @sigmoid {
  %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %n = opset1.Negative(%x) : tensor<2x3xf32>
  %e = opset1.Exp(%n) : tensor<2x3xf32>
  %a = opset1.Add(%one, %e) : tensor<2x3xf32>
  // CHECK: opset1.Sigmoid(%x) {name = "y"}
  %y = opset1.Divide(%one, %a) {name = "y"} : tensor<2x3xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// The exponential is of x, not of -x.
// CHECK-LABEL: @other
moir.model @other {
  %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %e = opset1.Exp(%x) : tensor<2x3xf32>
  %a = opset1.Add(%one, %e) : tensor<2x3xf32>
  // CHECK: opset1.Divide
  %y = opset1.Divide(%one, %a) {name = "y"} : tensor<2x3xf32>
  opset1.Result(%y) {name = "y"}
}
