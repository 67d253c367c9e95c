// RUN: moir-opt %s -p refuse-int64-masks | filecheck %s

// CHECK-LABEL: moir.model @executed
builtin.module {
  moir.model @executed {
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [33]>} : tensor<si64>
    %m = opset1.Constant() {value = #moir.data<tensor<si64>, [2147483647]>} : tensor<si64>
    %1 = opset15.BitwiseRightShift(%x, %c) : tensor<2xsi64>
    %2 = opset13.BitwiseAnd(%1, %m) {name = "a"} : tensor<2xsi64>
    opset1.Result(%2) {name = "y"}
  }
}
