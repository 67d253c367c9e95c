// RUN: moir-opt %s -p 'set-input-shapes{inputs="x[1..4,n]"}' --split-input-file | filecheck %s

// Bounds and names of dimensions. What the file declares of other tensors need not hold any more, but the rank.
// CHECK-LABEL: moir.model @bounds
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter() {bounds = "1..4,?", name = "x", dimension_names = ["", "n"]} : tensor<?x?xf32>
// CHECK-NEXT:    onnx.Relu(%[[X]]) : tensor<?x?xf32>
builtin.module {
  moir.model @bounds {
    %x = opset1.Parameter() {name = "x", dimension_names = ["batch", ""]} : tensor<?x8xf32>
    %1 = onnx.Relu(%x) : tensor<?x8xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// With another rank, not even that. What is only more exact than before leaves the declared types.
// CHECK-LABEL: moir.model @rank
// CHECK:           onnx.Relu(%{{.*}}) : tensor<*xf32>
builtin.module {
  moir.model @rank {
    %x = opset1.Parameter() {name = "x"} : tensor<8xf32>
    %1 = onnx.Relu(%x) : tensor<8xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Operations of operation sets are inferred anew.
// CHECK-LABEL: moir.model @operations
// CHECK:           opset1.Relu(%{{.*}}) : tensor<?x?xf32>
builtin.module {
  moir.model @operations {
    %x = opset1.Parameter() {name = "x"} : tensor<2x8xf32>
    %1 = opset1.Relu(%x) : tensor<2x8xf32>
    opset1.Result(%1) {name = "y"}
  }
}
