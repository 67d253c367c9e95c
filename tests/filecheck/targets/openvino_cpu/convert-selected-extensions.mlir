// RUN: moir-opt %s -p convert-selected-extensions | filecheck %s

// CHECK:      %[[H:.*]] = extension.Hash(%x) : tensor<2xsi64>
// CHECK-NEXT: %[[A:.*]] = opset1.Convert(%[[H]]) {destination_type = si32}
// CHECK-NEXT: %[[B:.*]] = opset1.Convert(%[[A]]) {destination_type = si64}
// CHECK-NEXT: opset1.Select(%c, %[[B]], %x)
builtin.module {
  moir.model @choice {
    %c = opset1.Parameter() {name = "c"} : tensor<2xi1>
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %h = extension.Hash(%x) : tensor<2xsi64>
    %y = opset1.Select(%c, %h, %x) {name = "y"} : tensor<2xsi64>
    opset1.Result(%y) {name = "z"}
  }
}
