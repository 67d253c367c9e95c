// RUN: moir-opt %s -p deduplicate --split-input-file | filecheck %s

// Equal constants and operations become one, which takes all tensor names; another type or property is another operation.
// CHECK-LABEL: moir.model @equal
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:    %[[A:.*]] = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>, name = "a"
// CHECK-NEXT:    %[[I:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [1065353216]>
// CHECK-NEXT:    %[[S:.*]] = opset1.Add(%[[X]], %[[A]]) {name = "first", tensor_names = ["s,t"]}
// CHECK-NEXT:    opset1.Add(%[[X]], %[[A]]) {auto_broadcast = "none"
// CHECK-NEXT:    opset1.Result(%[[S]])
// CHECK-NEXT:    opset1.Result(%[[S]])
builtin.module {
  moir.model @equal {
    %x = opset1.Parameter() {name = "x"} : tensor<1xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>, name = "a"} : tensor<1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>, name = "b"} : tensor<1xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [1065353216]>, name = "i"} : tensor<1xsi32>
    %s = opset1.Add(%x, %a) {name = "first", tensor_names = ["s"]} : tensor<1xf32>
    %t = opset1.Add(%x, %b) {name = "second", tensor_names = ["t"]} : tensor<1xf32>
    %u = opset1.Add(%x, %b) {auto_broadcast = "none", name = "third"} : tensor<1xf32>
    opset1.Result(%s) {name = "y"}
    opset1.Result(%t) {name = "z"}
  }
}

// -----

// An operation is compared with all earlier ones on the same operands, not only with the first.
// CHECK-LABEL: moir.model @three
// CHECK:         %[[N:.*]] = opset1.Add(%[[X:.*]], %[[X]]) {name = "numpy"}
// CHECK-NEXT:    %[[O:.*]] = opset1.Add(%[[X]], %[[X]]) {auto_broadcast = "none", name = "none"}
// CHECK-NEXT:    opset1.Result(%[[N]])
// CHECK-NEXT:    opset1.Result(%[[O]])
// CHECK-NEXT:    opset1.Result(%[[O]])
builtin.module {
  moir.model @three {
    %x = opset1.Parameter() {name = "x"} : tensor<1xf32>
    %a = opset1.Add(%x, %x) {name = "numpy"} : tensor<1xf32>
    %b = opset1.Add(%x, %x) {auto_broadcast = "none", name = "none"} : tensor<1xf32>
    %c = opset1.Add(%x, %x) {auto_broadcast = "none", name = "none again"} : tensor<1xf32>
    opset1.Result(%a) {name = "a"}
    opset1.Result(%b) {name = "b"}
    opset1.Result(%c) {name = "c"}
  }
}
