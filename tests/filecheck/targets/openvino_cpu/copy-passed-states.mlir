// RUN: moir-opt %s -p copy-passed-states --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @swapped
// CHECK:             %[[B:[0-9]+]] = opset16.Identity(%b) : tensor<2xf32>
// CHECK-NEXT:        opset1.Result(%[[B]])
// CHECK:             %[[A:[0-9]+]] = opset16.Identity(%a) : tensor<2xf32>
// CHECK-NEXT:        opset1.Result(%[[A]])
builtin.module {
  moir.model @swapped {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %1 = opset5.Loop(%n, %t, %x, %y) {inputs = [#moir.port<2 back 1>, #moir.port<3 back 2>], outputs = [#moir.port<1>], condition = 0} ({
      %a = opset1.Parameter() : tensor<2xf32>
      %b = opset1.Parameter() : tensor<2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%c)
      opset1.Result(%b)
      opset1.Result(%a)
    }) : tensor<2xf32>
    opset1.Result(%1) {name = "z"}
  }
}

// -----

// A state that stays needs no copy.
// CHECK-LABEL: moir.model @kept
// CHECK-NOT:       Identity
// CHECK:           opset1.Result(%a)
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %1 = opset5.Loop(%n, %t, %x) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0} ({
      %a = opset1.Parameter() : tensor<2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%c)
      opset1.Result(%a)
    }) : tensor<2xf32>
    opset1.Result(%1) {name = "z"}
  }
}
