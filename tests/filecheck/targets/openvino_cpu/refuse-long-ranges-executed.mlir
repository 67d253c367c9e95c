// RUN: moir-opt %s -p refuse-long-ranges | filecheck %s

// CHECK-LABEL: moir.model @executed
builtin.module {
  moir.model @executed {
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %b = opset1.Constant() {value = #moir.data<tensor<si64>, [4294967295]>} : tensor<si64>
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1 = opset4.Range(%a, %b, %c) {output_type = si64, name = "numbers"} : tensor<4294967295xsi64>
    opset1.Result(%1) {name = "out"}
  }
}
