// RUN: moir-opt %s -p "inline-branches,eliminate-dead" --split-input-file | filecheck %s

// Branches that compute the same, whatever their Parameters are called.
// CHECK-LABEL: moir.model @same
// CHECK:           %[[R:.*]] = opset1.Reshape(%[[X:.*]], %{{.*}}) {special_zero = true} : tensor<?x6xf32>
// CHECK-NEXT:    %[[A:.*]] = opset1.Add(%[[R]], %[[Z:.*]]) {name = "if"} : tensor<?x6xf32>
// CHECK-NEXT:    opset1.Result(%[[A]])
builtin.module {
  moir.model @same {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<6xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %y = opset8.If(%c, %x, %z) {then_inputs = [1, 2], else_inputs = [2, 1], name = "if"} ({
      %0 = opset1.Parameter() : tensor<?x2x3xf32>
      %1 = opset1.Parameter() : tensor<6xf32>
      %2 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 6]>} : tensor<2xsi64>
      %3 = opset1.Reshape(%0, %2) {special_zero = true} : tensor<?x6xf32>
      %4 = opset1.Add(%3, %1) : tensor<?x6xf32>
      opset1.Result(%4)
    }, {
      %5 = opset1.Parameter() : tensor<6xf32>
      %6 = opset1.Parameter() : tensor<?x2x3xf32>
      %7 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 6]>} : tensor<2xsi64>
      %8 = opset1.Reshape(%6, %7) {special_zero = true} : tensor<?x6xf32>
      %9 = opset1.Add(%8, %5) : tensor<?x6xf32>
      opset1.Result(%9)
    }) : tensor<?x6xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// The same operations of other operands, or in other places, are something else.
// CHECK-LABEL: moir.model @different
// CHECK:           opset8.If
// CHECK:           opset8.If
builtin.module {
  moir.model @different {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %y = opset8.If(%c, %x, %z) {then_inputs = [1, 2], else_inputs = [2, 1], name = "if"} ({
      %0 = opset1.Parameter() : tensor<2xf32>
      %1 = opset1.Parameter() : tensor<2xf32>
      %2 = opset1.Subtract(%0, %1) : tensor<2xf32>
      opset1.Result(%2)
    }, {
      %3 = opset1.Parameter() : tensor<2xf32>
      %4 = opset1.Parameter() : tensor<2xf32>
      %5 = opset1.Subtract(%3, %4) : tensor<2xf32>
      opset1.Result(%5)
    }) : tensor<2xf32>
    %w = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1], name = "if"} ({
      %6 = opset1.Parameter() : tensor<2xf32>
      %7 = opset1.Relu(%6) : tensor<2xf32>
      opset1.Result(%7)
    }, {
      %8 = opset1.Parameter() : tensor<2xf32>
      %9 = opset1.Abs(%8) : tensor<2xf32>
      opset1.Result(%9)
    }) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%w) {name = "w"}
  }
}

// -----

// A constant condition selects a branch, with the type that it has.
// CHECK-LABEL: moir.model @constant
// CHECK:           %[[A:.*]] = opset1.Abs(%[[X:.*]]) {name = "if"} : tensor<2xf32>
// CHECK-NEXT:    opset1.Result(%[[A]])
// CHECK-NEXT:    opset1.Result(%[[X]])
builtin.module {
  moir.model @constant {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<i1>, [false]>} : tensor<i1>
    %y, %z = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1], name = "if"} ({
      %0 = opset1.Parameter() : tensor<2xf32>
      %1 = opset1.Relu(%0) : tensor<2xf32>
      opset1.Result(%1)
      opset1.Result(%1)
    }, {
      %2 = opset1.Parameter() : tensor<2xf32>
      %3 = opset1.Abs(%2) : tensor<2xf32>
      opset1.Result(%3)
      opset1.Result(%2)
    }) : tensor<2xf32>, tensor<2xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
  }
}

// -----

// Branches that are equal after one in them was replaced.
// CHECK-LABEL: moir.model @nested
// CHECK:           %[[R:.*]] = opset1.Relu(%x) {name = "outer"}
// CHECK-NEXT:    opset1.Result(%[[R]])
builtin.module {
  moir.model @nested {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %y = opset8.If(%c, %x, %c) {then_inputs = [1], else_inputs = [1, 2], name = "outer"} ({
      %0 = opset1.Parameter() : tensor<2xf32>
      %1 = opset1.Relu(%0) : tensor<2xf32>
      opset1.Result(%1)
    }, {
      %2 = opset1.Parameter() : tensor<2xf32>
      %3 = opset1.Parameter() : tensor<i1>
      %4 = opset8.If(%3, %2) {then_inputs = [1], else_inputs = [1], name = "inner"} ({
        %5 = opset1.Parameter() : tensor<2xf32>
        %6 = opset1.Relu(%5) : tensor<2xf32>
        opset1.Result(%6)
      }, {
        %7 = opset1.Parameter() : tensor<2xf32>
        %8 = opset1.Relu(%7) : tensor<2xf32>
        opset1.Result(%8)
      }) : tensor<2xf32>
      opset1.Result(%4)
    }) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
  }
}
