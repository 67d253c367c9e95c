// RUN: moir-opt %s -p note-dynamic-ranks --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @input
// CHECK-SAME:    the IR will not load until the rank of 'x' is known: give shapes with --input
builtin.module {
  moir.model @input {
    %x = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %y = opset1.Relu(%x) : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @known
// CHECK-NOT:     will not load
builtin.module {
  moir.model @known {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %y = opset1.Relu(%x) : tensor<?x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}
