// RUN: moir-opt %s -p keep-unread-states --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @computed
// CHECK:             %[[A:[a-z0-9]+]] = opset1.Parameter() : tensor<2xf32>
// CHECK:             opset1.Result
// CHECK-NEXT:        opset1.Result
// CHECK-NEXT:        opset1.Result(%[[A]])
builtin.module {
  moir.model @computed {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %1 = opset5.Loop(%n, %t, %x) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0} ({
      %a = opset1.Parameter() : tensor<2xf32>
      %v = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%c)
      opset1.Result(%v)
    }) : tensor<2xf32>
    opset1.Result(%1) {name = "z"}
  }
}

// -----

// Three iterations.
// CHECK-LABEL: moir.model @constant
// CHECK:             opset1.Result
// CHECK-NEXT:        opset1.Result
// CHECK-NEXT:        })
builtin.module {
  moir.model @constant {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %1 = opset5.Loop(%n, %t, %x) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0} ({
      %a = opset1.Parameter() : tensor<2xf32>
      %v = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%c)
      opset1.Result(%v)
    }) : tensor<2xf32>
    opset1.Result(%1) {name = "z"}
  }
}
