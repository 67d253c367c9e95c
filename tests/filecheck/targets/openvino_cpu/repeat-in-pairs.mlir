// RUN: moir-opt %s -p "repeat-in-pairs,eliminate-dead" --split-input-file | filecheck %s

// Two axes at a time.
// CHECK-LABEL: moir.model @four
// CHECK:           %[[F:.*]] = opset8.Gather(%n
// CHECK:           %[[P:.*]] = opset1.Concat(%[[F]], %{{.*}}) {axis = 0
// CHECK:           %[[H:.*]] = opset1.Tile(%x, %[[P]])
// CHECK:           %[[L:.*]] = opset8.Gather(%n
// CHECK:           %[[Q:.*]] = opset1.Concat(%{{.*}}, %[[L]]) {axis = 0
// CHECK:           %[[Y:.*]] = opset1.Tile(%[[H]], %[[Q]])
// CHECK:           opset1.Result(%[[Y]])
builtin.module {
  moir.model @four {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?x?xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<4xsi64>
    %y = opset1.Tile(%x, %n) : tensor<?x?x?x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Three axes, and four of which two are certainly repeated once, are right.
// CHECK-LABEL: moir.model @few
// CHECK:           %[[C:.*]] = opset1.Concat(%m, %{{.*}}) {axis = 0
// CHECK:           opset1.Tile(%x, %n)
// CHECK:           opset1.Tile(%w, %[[C]])
builtin.module {
  moir.model @few {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<3xsi64>
    %w = opset1.Parameter() {name = "w"} : tensor<?x?x?x?xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<2xsi64>
    %1 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 1]>} : tensor<2xsi64>
    %c = opset1.Concat(%m, %1) {axis = 0} : tensor<4xsi64>
    %y = opset1.Tile(%x, %n) : tensor<?x?x?xf32>
    %z = opset1.Tile(%w, %c) : tensor<?x?x?x?xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
  }
}

// -----

// One channel of dynamic shape; several channels stay.
// CHECK-LABEL: moir.model @one_channel
// CHECK:         %[[U:.*]] = opset1.Unsqueeze(%x, %{{.*}}) : tensor<1x?x1x5x3xf32>
// CHECK:         %[[T:.*]] = opset1.Tile(%[[U]], %{{.*}}) : tensor<1x?x2x10x3xf32>
// CHECK:         opset15.Squeeze(%[[T]], %{{.*}}) : tensor<?x2x10x3xf32>
// CHECK:         opset1.Tile(%v, %n) : tensor<?x4x10x3xf32>
builtin.module {
  moir.model @one_channel {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x5x3xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x2x5x3xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 2, 2, 1]>} : tensor<4xsi64>
    %0 = opset1.Tile(%x, %n) : tensor<?x2x10x3xf32>
    %1 = opset1.Tile(%v, %n) : tensor<?x4x10x3xf32>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%1) {name = "z"}
  }
}
