// RUN: moir-opt %s -p compare-with-negatives --verify-each --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @of_sizes
// CHECK:         %[[DISTANCE:\d+]] = opset1.Subtract
// CHECK-NEXT:    %[[NEGATIVE:\d+]] = opset1.Negative(%[[DISTANCE]]) : tensor<?xf32>
// CHECK-NEXT:    opset1.Maximum(%[[DISTANCE]], %[[NEGATIVE]]) {name = "y"} : tensor<?xf32>
builtin.module {
  moir.model @of_sizes {
    %0 = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %1 = opset3.ShapeOf(%0) : tensor<?xsi64>
    %2 = opset1.Convert(%1) {destination_type = f32} : tensor<?xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [5.0]>} : tensor<f32>
    %4 = opset1.Subtract(%3, %2) : tensor<?xf32>
    %5 = opset1.Abs(%4) {name = "y"} : tensor<?xf32>
    opset1.Result(%5) {name = "r"}
  }
}

// -----
// Data decide the elements.
// CHECK-LABEL: moir.model @of_data
// CHECK:         opset1.Abs
builtin.module {
  moir.model @of_data {
    %0 = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %1 = opset3.ShapeOf(%0) : tensor<1xsi64>
    %2 = opset1.Convert(%1) {destination_type = f32} : tensor<1xf32>
    %3 = opset1.Subtract(%0, %2) : tensor<?xf32>
    %4 = opset1.Abs(%3) {name = "y"} : tensor<?xf32>
    opset1.Result(%4) {name = "r"}
  }
}
