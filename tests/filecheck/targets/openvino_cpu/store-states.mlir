// RUN: moir-opt %s -p store-states --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @counter
// CHECK:         %[[I:.*]] = opset1.Constant() {value = #moir.data<tensor<si32>, [7]>} : tensor<si32>
// CHECK:         %[[R:.*]] = opset6.ReadValue(%[[I]]) {variable_type = si32, variable_id = "v", variable_shape = ""} : tensor<si32>
// CHECK:         %[[C:.*]] = opset1.Convert(%[[R]]) {destination_type = si64, name = "r"} : tensor<si64>
// CHECK:         %[[N:.*]] = opset1.Add(%[[C]], %{{.*}}) : tensor<si64>
// CHECK:         %[[M:.*]] = opset1.Convert(%[[N]]) {destination_type = si32} : tensor<si32>
// CHECK:         opset6.Assign(%[[M]]) {variable_id = "v"} : tensor<si32>
builtin.module {
  moir.model @counter {
    %i = opset1.Constant() {value = #moir.data<tensor<si64>, [7]>} : tensor<si64>
    %r = opset6.ReadValue(%i) {variable_type = si64, variable_id = "v", variable_shape = "", name = "r"} : tensor<si64>
    %n = opset1.Add(%r, %i) : tensor<si64>
    %a = opset6.Assign(%n) {variable_id = "v"} : tensor<si64>
    opset1.Result(%n) {name = "y"}
  }
}

// -----

// A state that is an output is kept apart from the Result.
// CHECK-LABEL: moir.model @output
// CHECK:         %[[R:.*]] = opset6.ReadValue(%{{.*}}) {variable_type = f32, variable_id = "v", variable_shape = "2"} : tensor<2xf32>
// CHECK:         %[[U:.*]] = opset1.Unsqueeze(%[[R]], %{{.*}}) : tensor<1x2xf32>
// CHECK:         %[[C:.*]] = opset1.Convert(%[[U]]) {destination_type = f64} : tensor<1x2xf64>
// CHECK:         %[[S:.*]] = opset{{.*}}.Squeeze(%[[C]], %{{.*}}) {{.*}} : tensor<2xf64>
// CHECK:         opset1.Result(%[[S]])
builtin.module {
  moir.model @output {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf64>
    %r = opset6.ReadValue(%x) {variable_type = f64, variable_id = "v", variable_shape = "2", name = "r"} : tensor<2xf64>
    %a = opset6.Assign(%x) {variable_id = "v"} : tensor<2xf64>
    opset1.Result(%r) {name = "y"}
  }
}

// -----

// What the runtime can hold stays.
// CHECK-LABEL: moir.model @float
// CHECK-NOT:     opset1.Convert
builtin.module {
  moir.model @float {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %r = opset6.ReadValue(%x) {variable_type = f32, variable_id = "v", variable_shape = "2"} : tensor<2xf32>
    %a = opset6.Assign(%r) {variable_id = "v"} : tensor<2xf32>
    opset1.Result(%r) {name = "y"}
  }
}
