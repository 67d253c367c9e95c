// RUN: moir-opt %s -p search-filled-rows --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @rows
// CHECK:           %[[S:.*]] = opset3.ShapeOf(%x)
// CHECK:           %[[N:.*]] = opset8.Gather(%[[S]]
// CHECK:           %[[F:.*]] = opset15.SearchSorted(%x, %y)
// CHECK:           %[[M:.*]] = opset1.Minimum(%[[N]], %{{.*}})
// CHECK:           opset1.Multiply(%[[F]], %[[M]]) {name = "s"}
builtin.module {
  moir.model @rows {
    %x = opset1.Parameter() {name = "x"} : tensor<4x?xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<4x?xf32>
    %1 = opset15.SearchSorted(%x, %y) {name = "s"} : tensor<4x?xsi64>
    opset1.Result(%1) {name = "z"}
  }
}

// -----

// CHECK-LABEL: moir.model @filled
// CHECK-NOT:       Multiply
builtin.module {
  moir.model @filled {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x?xf32>
    %1 = opset15.SearchSorted(%x, %y) {name = "s"} : tensor<?x?xsi64>
    opset1.Result(%1) {name = "z"}
  }
}
