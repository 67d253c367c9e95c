// RUN: moir-opt %s -p "fold-batch-norm,eliminate-dead" --split-input-file | filecheck %s

// Scale and shift of each channel.
// CHECK-LABEL: moir.model @folds
// CHECK:           %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [0.5, 0.5]>}
// CHECK:           opset1.Multiply(%{{.*}}, %[[S]])
// CHECK:           %[[T:.*]] = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [0.5, 0.5]>}
// CHECK:           opset1.Add(%{{.*}}, %[[T]]) {name = "bn"}
builtin.module {
  moir.model @folds {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %g = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 1.0]>} : tensor<2xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.5, 1.5]>} : tensor<2xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 2.0]>} : tensor<2xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<2xf32>, [3.0, 3.0]>} : tensor<2xf32>
    %1 = opset5.BatchNormInference(%x, %g, %b, %m, %v) {epsilon = 1.0, name = "bn"} : tensor<?x2x8x8xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A shift of 0 is left out.
// CHECK-LABEL: moir.model @unshifted
// CHECK:           opset1.Multiply(%{{.*}}, %{{.*}}) {name = "bn"}
// CHECK-NOT:     opset1.Add
builtin.module {
  moir.model @unshifted {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %g = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 1.0]>} : tensor<2xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 1.0]>} : tensor<2xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 2.0]>} : tensor<2xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<2xf32>, [3.0, 3.0]>} : tensor<2xf32>
    %1 = opset5.BatchNormInference(%x, %g, %b, %m, %v) {epsilon = 1.0, name = "bn"} : tensor<?x2x8x8xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Statistics that are inputs stay.
// CHECK-LABEL: moir.model @dynamic
// CHECK:           opset5.BatchNormInference
builtin.module {
  moir.model @dynamic {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %g = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 1.0]>} : tensor<2xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<2xf32>
    %1 = opset5.BatchNormInference(%x, %g, %g, %m, %g) {epsilon = 1.0, name = "bn"} : tensor<?x2x8x8xf32>
    opset1.Result(%1) {name = "y"}
  }
}
