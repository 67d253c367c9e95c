// RUN: moir-opt %s -p raise-writes | filecheck %s

// An overload `out` writes its last operands, as many as it has results; it may have another name than the operation
// that computes them.
builtin.module {
  moir.model @out {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %values, %indices = aten.topk.default(%x) {k = 1, arguments = ["self"], name = "memory"} : tensor<*xf32>, tensor<*xsi64>
    %a, %b = aten.topk.values(%x, %values, %indices) {k = 2, arguments = ["self", "values", "indices"], name = "top"} : tensor<*xf32>, tensor<*xsi64>
    %sum = aten.add.out(%values, %a, %values) {arguments = ["self", "other", "out"], name = "sum"} : tensor<*xf32>
    opset1.Result(%values) {name = "written"}
    opset1.Result(%b) {name = "indices"}
  }
}

// CHECK:      moir.model @out
// CHECK:      [[X:%[0-9a-z]+]] = opset1.Parameter()
// CHECK:      [[VALUES:%[0-9a-z]+]], [[INDICES:%[0-9a-z]+]] = aten.topk.default([[X]]) {k = 2, arguments = ["self"]
// CHECK-NEXT: [[SUM:%[0-9a-z]+]] = aten.add.Tensor([[VALUES]], [[VALUES]])
// CHECK-NEXT: opset1.Result([[SUM]])
// CHECK-NEXT: opset1.Result([[INDICES]])
