// RUN: moir-opt %s -p equalize-ranks --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @clamp
// CHECK:         %[[X:.*]] = opset1.Unsqueeze(%x, %{{.*}}) : tensor<1x5xf32>
// CHECK:         opset1.Maximum(%[[X]], %c) {name = "m"} : tensor<1x5xf32>
builtin.module {
  moir.model @clamp {
    %x = opset1.Parameter() {name = "x"} : tensor<5xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %1 = opset1.Maximum(%x, %c) {name = "m"} : tensor<1x5xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A constant of the same rank adds no dimension, and sums and products of integers may be those of shapes.
// CHECK-LABEL: moir.model @same
// CHECK-NOT:     Unsqueeze
builtin.module {
  moir.model @same {
    %x = opset1.Parameter() {name = "x"} : tensor<5xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %c = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.0]>} : tensor<1xf32>
    %k = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %1 = opset1.Maximum(%x, %c) : tensor<5xf32>
    %2 = opset1.Multiply(%n, %k) : tensor<1xsi64>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// A minimum and a maximum become a Clamp also of integers.
// CHECK-LABEL: moir.model @limits
// CHECK:         %[[N:.*]] = opset1.Unsqueeze(%n, %{{.*}}) : tensor<1xsi64>
// CHECK:         opset1.Minimum(%[[N]], %k) {name = "m"} : tensor<1xsi64>
builtin.module {
  moir.model @limits {
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %k = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %1 = opset1.Minimum(%n, %k) {name = "m"} : tensor<1xsi64>
    opset1.Result(%1) {name = "z"}
  }
}
