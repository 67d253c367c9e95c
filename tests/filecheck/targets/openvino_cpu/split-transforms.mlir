// RUN: moir-opt %s -p split-transforms --split-input-file | filecheck %s

// A transform that is longer than its data.
// CHECK-LABEL: moir.model @short
// CHECK:           %[[PAD:[0-9]+]] = opset12.Pad(%x, %{{.*}}, %{{.*}}) {pad_mode = "constant"} : tensor<2x6xf32>
// CHECK:           opset9.RDFT(%[[PAD]], %axes, %size) {name = "t"} : tensor<2x4x2xf32>
builtin.module {
  moir.model @short {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %size = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [6]>} : tensor<1xsi64>
    %1 = opset9.RDFT(%x, %axes, %size) {name = "t"} : tensor<2x4x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Data that are long enough stay.
// CHECK-LABEL: moir.model @long
// CHECK-NOT:       Pad
// CHECK:           opset9.RDFT(%x, %axes, %size)
builtin.module {
  moir.model @long {
    %x = opset1.Parameter() {name = "x"} : tensor<2x8xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %size = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [6]>} : tensor<1xsi64>
    %1 = opset9.RDFT(%x, %axes, %size) : tensor<2x4x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Ten numbers need six frequencies.
// CHECK-LABEL: moir.model @inverse
// CHECK:           %[[PAD:[0-9]+]] = opset12.Pad(%x, %{{.*}}, %{{.*}}) {pad_mode = "constant"} : tensor<2x6x2xf32>
// CHECK:           opset9.IRDFT(%[[PAD]], %axes, %size) : tensor<2x10xf32>
builtin.module {
  moir.model @inverse {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x2xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %size = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [10]>} : tensor<1xsi64>
    %1 = opset9.IRDFT(%x, %axes, %size) : tensor<2x10xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @volume
// CHECK:           %[[FIRST:[0-9]+]] = opset7.IDFT(%x, %{{.*}}, %{{.*}}) : tensor<2x3x5x2xf32>
// CHECK:           opset9.IRDFT(%[[FIRST]], %{{.*}}, %{{.*}}) : tensor<2x3x6xf32>
builtin.module {
  moir.model @volume {
    %x = opset1.Parameter() {name = "x"} : tensor<3x4x5x2xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 2]>} : tensor<3xsi64>
    %sizes = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 3, 6]>} : tensor<3xsi64>
    %1 = opset9.IRDFT(%x, %axes, %sizes) : tensor<2x3x6xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A computed length of data of known sizes.
// CHECK-LABEL: moir.model @computed
// CHECK:           %[[PAD:[0-9]+]] = opset12.Pad(%x, {{.*}}) {pad_mode = "constant"} : tensor<?x?xf32>
// CHECK:           %[[CUT:[0-9]+]] = opset8.Slice(%[[PAD]], %{{.*}}, %size, %{{.*}}, %axes) : tensor<?x?xf32>
// CHECK:           opset9.RDFT(%[[CUT]], %axes, %size)
builtin.module {
  moir.model @computed {
    %x = opset1.Parameter() {name = "x"} : tensor<1x8xf32>
    %size = opset1.Parameter() {name = "size"} : tensor<1xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %1 = opset9.RDFT(%x, %axes, %size) : tensor<1x?x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}
