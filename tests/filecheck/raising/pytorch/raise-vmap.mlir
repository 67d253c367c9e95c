// RUN: moir-opt %s -p raise-vmap | filecheck %s

// Elementwise operations get aligned operands, others are mapped.
builtin.module {
  moir.model @mapped {
    %x = opset1.Parameter() {name = "x"} : tensor<3x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<3xf32>
    %a = aten.torch._functorch.predispatch._add_batch_dim(%x) {input1 = 1, input2 = 1, arguments = ["input0"], name = "a"} : tensor<*xf32>
    %b = aten.mul.Tensor(%a, %w) {arguments = ["self", "other"], name = "b"} : tensor<*xf32>
    %c = aten.softmax.int(%b) {dim = 0, arguments = ["self"], name = "c"} : tensor<*xf32>
    %unused = aten.exp.default(%c) {arguments = ["self"], name = "unused"} : tensor<*xf32>
    %y = aten.torch._functorch.predispatch._remove_batch_dim(%c) {input1 = 1, input2 = 4, input3 = 1, arguments = ["input0"], name = "y"} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// CHECK:      [[X:%[0-9a-z]+]] = opset1.Parameter()
// CHECK-NEXT: [[W:%[0-9a-z]+]] = opset1.Parameter()
// CHECK-NEXT: [[A:%[0-9a-z]+]] = aten.movedim.int([[X]])
// CHECK-SAME: source = 1
// CHECK-SAME: destination = 0
// CHECK-NEXT: [[C:%[0-9a-z]+]], [[D:%[0-9a-z]+]] = aten.moir.aligned([[A]], [[W]])
// CHECK-SAME: levels = ["1", ""]
// CHECK-NEXT: [[B:%[0-9a-z]+]] = aten.mul.Tensor([[C]], [[D]])
// CHECK-NEXT: [[S:%[0-9a-z]+]] = aten.higher_order.map_impl([[B]])
// CHECK:      aten.softmax.int
// CHECK-NOT:  aten.exp
// CHECK:      [[Y:%[0-9a-z]+]] = aten.movedim.int([[S]])
// CHECK-SAME: destination = 1
// CHECK:      opset1.Result([[Y]])
