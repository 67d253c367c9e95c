// RUN: moir-opt %s -p eliminate-dead --split-input-file | filecheck %s

// A chain without uses goes in one walk; the unread input of the model stays.
// CHECK-LABEL: moir.model @chain
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:    opset1.Parameter() {name = "unused"}
// CHECK-NEXT:    opset1.Result(%[[X]])
// CHECK-NEXT:  }
builtin.module {
  moir.model @chain {
    %0 = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %1 = opset1.Parameter() {name = "unused"} : tensor<2xf32>
    %2 = opset1.Relu(%0) : tensor<2xf32>
    %3 = opset1.Relu(%2) : tensor<2xf32>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

// What no branch reads is no operand of the If.
// CHECK-LABEL: moir.model @branches
// CHECK:         opset8.If(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) {then_inputs = [1], else_inputs = [1]}
// CHECK-NOT:     opset1.Relu
builtin.module {
  moir.model @branches {
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %r = opset1.Relu(%x) : tensor<2xf32>
    %y = opset8.If(%c, %r, %x) {then_inputs = [1, 2], else_inputs = [1, 2]} ({
      %0 = opset1.Parameter() : tensor<2xf32>
      %1 = opset1.Parameter() : tensor<2xf32>
      %2 = opset1.Abs(%1) : tensor<2xf32>
      opset1.Result(%2)
    }, {
      %3 = opset1.Parameter() : tensor<2xf32>
      %4 = opset1.Parameter() : tensor<2xf32>
      opset1.Result(%4)
    }) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
  }
}
