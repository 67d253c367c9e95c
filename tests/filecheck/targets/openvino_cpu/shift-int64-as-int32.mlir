// RUN: moir-opt %s -p shift-int64-as-int32 --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @far
// CHECK:           %[[C:[0-9]+]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [31, 3]>
// CHECK:           opset15.BitwiseRightShift(%x, %[[C]]) {name = "s"} : tensor<2xsi64>
builtin.module {
  moir.model @far {
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [40, 3]>} : tensor<2xsi64>
    %1 = opset15.BitwiseRightShift(%x, %c) {name = "s"} : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @near
// CHECK:           opset15.BitwiseRightShift(%x, %c)
// CHECK:           opset15.BitwiseLeftShift(%x, %c)
builtin.module {
  moir.model @near {
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [31]>} : tensor<si64>
    %1 = opset15.BitwiseRightShift(%x, %c) : tensor<2xsi64>
    %2 = opset15.BitwiseLeftShift(%x, %c) : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// CHECK-LABEL: moir.model @left
// CHECK:           opset15.BitwiseLeftShift(%x, %{{[0-9]+}}) : tensor<2xsi64>
// CHECK:           opset1.Select(%{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}) {{.*}}name = "s"{{.*}} : tensor<2xsi64>
builtin.module {
  moir.model @left {
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [40, 3]>} : tensor<2xsi64>
    %1 = opset15.BitwiseLeftShift(%x, %c) {name = "s"} : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @computed
// CHECK:           %[[M:[0-9]+]] = opset1.Minimum(%n, %{{[0-9]+}}) : tensor<2xsi64>
// CHECK:           opset15.BitwiseRightShift(%x, %[[M]]) {name = "s"} : tensor<2xsi64>
// CHECK:           opset15.BitwiseLeftShift(%x, %{{[0-9]+}}) : tensor<2xsi64>
// CHECK:           opset1.Select
builtin.module {
  moir.model @computed {
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %n = opset1.Parameter() {name = "n"} : tensor<2xsi64>
    %1 = opset15.BitwiseRightShift(%x, %n) {name = "s"} : tensor<2xsi64>
    %2 = opset15.BitwiseLeftShift(%x, %n) : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}
