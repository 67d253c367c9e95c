// RUN: moir-opt %s -p propagate-nan-constants --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @sizes
// CHECK:           %[[SHAPE:.*]] = opset3.ShapeOf(%x)
// CHECK:           opset3.Broadcast(%{{.*}}, %[[SHAPE]]) {name = "a"} : tensor<?x2xf32>
// CHECK:           opset3.Broadcast(%{{.*}}, %{{.*}}) {name = "b"} : tensor<3x2xf32>
// CHECK:           opset3.Broadcast(%{{.*}}, %{{.*}}) {name = "c"} : tensor<*xf32>
builtin.module {
  moir.model @sizes {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<3x2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<*xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0x7FC00000]>} : tensor<1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0x7FC00000]>} : tensor<f32>
    %1 = opset1.Maximum(%x, %n) {name = "a"} : tensor<?x2xf32>
    %2 = opset1.Subtract(%n, %y) {name = "b"} : tensor<3x2xf32>
    %3 = opset1.Add(%z, %s) {name = "c"} : tensor<*xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}

// -----

// A number, several numbers, a constant that adds dimensions, or may do so; 1 to the power of NaN is 1.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Broadcast
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<*xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [2.0]>} : tensor<1x1xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [0x7FC00000]>} : tensor<1x1x1xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0x7FC00000, 1.0]>} : tensor<2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0x7FC00000]>} : tensor<f32>
    %1 = opset1.Maximum(%x, %o) : tensor<?x2xf32>
    %2 = opset1.Add(%x, %m) : tensor<?x2xf32>
    %3 = opset1.Add(%x, %n) : tensor<1x?x2xf32>
    %4 = opset1.Add(%z, %n) : tensor<*xf32>
    %5 = opset1.Power(%x, %s) : tensor<?x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
    opset1.Result(%4) {name = "d"}
    opset1.Result(%5) {name = "e"}
  }
}
