// RUN: moir-opt %s -p raise-writes | filecheck %s

// A write through a view changes the tensor; a constant that is written is a state.
builtin.module {
  moir.model @writes {
    %x = opset1.Parameter() {name = "x"} : tensor<3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>, name = "cache"} : tensor<2x3xf32>
    %v = aten.select.int(%c) {dim = 0, index = 1, arguments = ["self"], name = "row"} : tensor<*xf32>
    %w = aten.copy_.default(%v, %x) {arguments = ["self", "src"], name = "write"} : tensor<*xf32>
    %y = aten.neg.default(%c) {arguments = ["self"], name = "y"} : tensor<*xf32>
    %z = aten.exp.default(%w) {arguments = ["self"], name = "z"} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
  }
}

// CHECK:      [[X:%[0-9a-z]+]] = opset1.Parameter()
// CHECK-NEXT: [[C:%[0-9a-z]+]] = opset1.Constant()
// CHECK-NEXT: [[READ:%[0-9a-z]+]] = opset6.ReadValue([[C]])
// CHECK-SAME: variable_id = "cache"
// CHECK-NEXT: [[ROW:%[0-9a-z]+]] = aten.select.int([[READ]])
// CHECK-NEXT: [[NEW:%[0-9a-z]+]] = aten.copy.default([[ROW]], [[X]])
// CHECK-NEXT: [[ALL:%[0-9a-z]+]] = aten.select_scatter.default([[READ]], [[NEW]]) {dim = 0, index = 1
// CHECK-NEXT: aten.neg.default([[ALL]])
// CHECK-NEXT: aten.exp.default([[NEW]])
// CHECK-NEXT: opset6.Assign([[ALL]])
// CHECK-SAME: variable_id = "cache"
