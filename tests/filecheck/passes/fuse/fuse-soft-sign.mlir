// RUN: moir-opt %s -p fuse-soft-sign,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: @soft_sign
moir.model @soft_sign {
  %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %a = opset1.Abs(%x) : tensor<?x8xf32>
  %b = opset1.Add(%a, %one) : tensor<?x8xf32>
  // CHECK: opset9.SoftSign(%x) {name = "y"}
  %y = opset1.Divide(%x, %b) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// Integers are divided otherwise.
// CHECK-LABEL: @integers
moir.model @integers {
  %x = opset1.Parameter() {name = "x"} : tensor<?x8xsi32>
  %one = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
  %a = opset1.Abs(%x) : tensor<?x8xsi32>
  %b = opset1.Add(%a, %one) : tensor<?x8xsi32>
  // CHECK: opset1.Divide
  %y = opset1.Divide(%x, %b) {name = "y"} : tensor<?x8xsi32>
  opset1.Result(%y) {name = "y"}
}
