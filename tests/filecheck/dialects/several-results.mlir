// RUN: moir-opt %s | moir-opt | filecheck %s

builtin.module {
  moir.model @split {
    %x = opset1.Parameter() : tensor<4xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %a, %b = opset1.Split(%x, %axis) {num_splits = 2, name = "s", tensor_names = ["a", ""]} : tensor<2xf32>, tensor<2xf32>
    opset1.Result(%b)
  }
}

// CHECK: %a, %b = opset1.Split(%x, %axis) {num_splits = 2, name = "s", tensor_names = ["a", ""]} : tensor<2xf32>, tensor<2xf32>
// CHECK-NEXT: opset1.Result(%b)
