// RUN: moir-opt %s -p reduce-booleans-as-bytes --verify-each --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @all
// CHECK:           %0 = opset1.Convert(%x) {destination_type = ui8} : tensor<?x?xui8>
// CHECK-NEXT:      %1 = opset1.ReduceMin(%0, %axes) {keep_dims = true} : tensor<?x?xui8>
// CHECK-NEXT:      %y = opset1.Convert(%1) {destination_type = i1, name = "y"} : tensor<?x?xi1>
builtin.module {
  moir.model @all {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xi1>
    %axes = opset1.Parameter() {name = "axes"} : tensor<1xsi64>
    %y = opset1.ReduceLogicalAnd(%x, %axes) {keep_dims = true, name = "y"} : tensor<?x?xi1>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @any
// CHECK:           opset1.ReduceMax({{.*}}, %axes) {keep_dims = true} : tensor<?x?xui8>
builtin.module {
  moir.model @any {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xi1>
    %axes = opset1.Parameter() {name = "axes"} : tensor<1xsi64>
    %y = opset1.ReduceLogicalOr(%x, %axes) {keep_dims = true, name = "y"} : tensor<?x?xi1>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @known
// CHECK:           opset1.ReduceLogicalOr(%x, %axes)
builtin.module {
  moir.model @known {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xi1>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %y = opset1.ReduceLogicalOr(%x, %axes) {keep_dims = true, name = "y"} : tensor<?x?xi1>
    opset1.Result(%y) {name = "out"}
  }
}
