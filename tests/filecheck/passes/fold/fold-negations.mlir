// RUN: moir-opt %s -p "fold-negations,eliminate-dead" --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @term
// CHECK:           %[[P:.*]] = opset1.Multiply(%x, %y)
// CHECK-NEXT:      opset1.Subtract(%z, %[[P]]) {name = "sum"}
builtin.module {
  moir.model @term {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x4xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<?x4xf32>
    %0 = opset1.Negative(%x) : tensor<?x4xf32>
    %1 = opset1.Multiply(%0, %y) : tensor<?x4xf32>
    %2 = opset1.Add(%1, %z) {name = "sum"} : tensor<?x4xf32>
    opset1.Result(%2) {name = "out"}
  }
}

// -----

// A sum with a negated value, and the difference from one.
// CHECK-LABEL: moir.model @operands
// CHECK:           %[[S:.*]] = opset1.Subtract(%y, %x)
// CHECK:           opset1.Add(%[[S]], %y)
builtin.module {
  moir.model @operands {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<4xf32>
    %0 = opset1.Negative(%x) : tensor<4xf32>
    %1 = opset1.Add(%0, %y) : tensor<4xf32>
    %2 = opset1.Negative(%y) : tensor<4xf32>
    %3 = opset1.Subtract(%1, %2) : tensor<4xf32>
    opset1.Result(%3) {name = "out"}
  }
}

// -----

// A negated value with another use is computed anyway.
// CHECK-LABEL: moir.model @used
// CHECK:           %[[N:.*]] = opset1.Negative(%x)
// CHECK-NEXT:      opset1.Add(%[[N]], %y)
builtin.module {
  moir.model @used {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<4xf32>
    %0 = opset1.Negative(%x) : tensor<4xf32>
    %1 = opset1.Add(%0, %y) : tensor<4xf32>
    opset1.Result(%0) {name = "negated"}
    opset1.Result(%1) {name = "out"}
  }
}
