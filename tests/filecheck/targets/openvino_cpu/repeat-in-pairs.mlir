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
