// RUN: moir-opt %s -p erase-unread-states,eliminate-dead | filecheck %s

// CHECK-LABEL: moir.model @written
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:    %[[R:.*]] = opset6.ReadValue(%[[X]]) {{.*}}variable_id = "read"
// CHECK-NEXT:    %[[Y:.*]] = opset1.Relu(%[[R]])
// CHECK-NEXT:    opset6.Assign(%[[Y]]) {variable_id = "read"}
// CHECK-NEXT:    opset1.Result(%[[X]])
// CHECK-NOT:     "written"
builtin.module {
  moir.model @written {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %0 = opset6.ReadValue(%x) {variable_type = f32, variable_id = "written", variable_shape = "2"} : tensor<2xf32>
    %1 = opset6.ReadValue(%x) {variable_type = f32, variable_id = "read", variable_shape = "2"} : tensor<2xf32>
    %2 = opset1.Sigmoid(%x) : tensor<2xf32>
    %3 = opset6.Assign(%2) {variable_id = "written"} : tensor<2xf32>
    %4 = opset1.Relu(%1) : tensor<2xf32>
    %5 = opset6.Assign(%4) {variable_id = "read"} : tensor<2xf32>
    opset1.Result(%x) {name = "y"}
  }
}
