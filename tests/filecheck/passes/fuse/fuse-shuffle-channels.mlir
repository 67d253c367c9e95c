// RUN: moir-opt %s -p "fuse-shuffle-channels,eliminate-dead" --split-input-file | filecheck %s

// Two groups of channels are interleaved.
// CHECK-LABEL: moir.model @shuffles
// CHECK:           opset1.ShuffleChannels(%{{.*}}) {group = 2, name = "last"} : tensor<?x6x5x7xf32>
builtin.module {
  moir.model @shuffles {
    %x = opset1.Parameter() {name = "x"} : tensor<?x6x5x7xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 2, 3, 5, 7]>} : tensor<5xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 2, 1, 3, 4]>} : tensor<5xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 6, 5, 7]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %a) {special_zero = true} : tensor<?x2x3x5x7xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x3x2x5x7xf32>
    %3 = opset1.Reshape(%2, %b) {special_zero = true, name = "last"} : tensor<?x6x5x7xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Another shape in the end is no shuffle.
// CHECK-LABEL: moir.model @other
// CHECK-NOT:     ShuffleChannels
// CHECK:           opset1.Reshape
builtin.module {
  moir.model @other {
    %x = opset1.Parameter() {name = "x"} : tensor<?x6x5x7xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 2, 3, 5, 7]>} : tensor<5xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 2, 1, 3, 4]>} : tensor<5xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 10, 7]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %a) {special_zero = true} : tensor<?x2x3x5x7xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x3x2x5x7xf32>
    %3 = opset1.Reshape(%2, %b) {special_zero = true, name = "last"} : tensor<?x3x10x7xf32>
    opset1.Result(%3) {name = "y"}
  }
}
