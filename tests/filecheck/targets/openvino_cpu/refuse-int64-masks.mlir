// RUN: not moir-opt %s -p refuse-int64-masks 2>&1 | filecheck %s

// CHECK: opset13.BitwiseAnd 'a': the CPU plugin computes with integers of 32 bits, which do not hold negative integers shifted within 64 bits
builtin.module {
  moir.model @refused {
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %m = opset1.Constant() {value = #moir.data<tensor<si64>, [9223372036854775807]>} : tensor<si64>
    %1 = opset15.BitwiseRightShift(%x, %c) : tensor<2xsi64>
    %2 = opset13.BitwiseAnd(%1, %m) {name = "a"} : tensor<2xsi64>
    opset1.Result(%2) {name = "y"}
  }
}
