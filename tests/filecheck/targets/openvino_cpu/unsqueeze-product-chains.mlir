// RUN: moir-opt %s -p unsqueeze-product-chains --verify-each --split-input-file | filecheck %s

// A computed value is added to the second of two products in a row.
// CHECK-LABEL: moir.model @added_to_the_last
// CHECK:         %[[LAST:\d+]] = opset1.MatMul(%{{\d+}}, %w)
// CHECK:         %[[ADDED:\d+]] = opset1.Unsqueeze(%[[LAST]], %{{\d+}}) : tensor<1x2x2xf32>
// CHECK-NEXT:    %[[SUM:\d+]] = opset1.Add(%[[ADDED]], %{{\d+}}) : tensor<1x2x2xf32>
// CHECK:         opset15.Squeeze(%[[SUM]], %{{\d+}}) : tensor<2x2xf32>
builtin.module {
  moir.model @added_to_the_last {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %0 = opset1.MatMul(%x, %w) : tensor<2x2xf32>
    %1 = opset1.Relu(%0) : tensor<2x2xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<2x2xf32>
    %3 = opset1.Sigmoid(%z) : tensor<2x2xf32>
    %4 = opset1.Add(%2, %3) : tensor<2x2xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----
// A gate between two products.
// CHECK-LABEL: moir.model @gate
// CHECK:         opset1.Unsqueeze
// CHECK-NEXT:    opset1.Multiply
// CHECK:         opset15.Squeeze
builtin.module {
  moir.model @gate {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %0 = opset1.MatMul(%x, %w) : tensor<2x2xf32>
    %1 = opset1.Multiply(%z, %0) : tensor<2x2xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<2x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----
// Biases, and one product alone.
// CHECK-LABEL: moir.model @biases
// CHECK-NOT:     opset1.Unsqueeze
builtin.module {
  moir.model @biases {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %0 = opset1.MatMul(%x, %w) : tensor<2x2xf32>
    %1 = opset1.Add(%0, %w) : tensor<2x2xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<2x2xf32>
    %3 = opset1.MatMul(%z, %w) : tensor<2x2xf32>
    %4 = opset1.Add(%3, %x) : tensor<2x2xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "v"}
  }
}

// -----
// Products of more rows, or of an unknown number of them.
// CHECK-LABEL: moir.model @more_rows
// CHECK-NOT:     opset1.Unsqueeze
builtin.module {
  moir.model @more_rows {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<?x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %0 = opset1.MatMul(%x, %w) : tensor<?x2xf32>
    %1 = opset1.MatMul(%0, %w) : tensor<?x2xf32>
    %2 = opset1.Add(%1, %z) : tensor<?x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}
