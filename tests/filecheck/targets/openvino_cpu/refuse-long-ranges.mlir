// RUN: not moir-opt %s -p refuse-long-ranges 2>&1 | filecheck %s

// CHECK: opset4.Range 'numbers': it has more than 4294967295 numbers, which OpenVINO Runtime does not count; cut the model after this node
builtin.module {
  moir.model @refused {
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %b = opset1.Constant() {value = #moir.data<tensor<si64>, [4294967296]>} : tensor<si64>
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1 = opset4.Range(%a, %b, %c) {output_type = si64, name = "numbers"} : tensor<4294967296xsi64>
    opset1.Result(%1) {name = "out"}
  }
}
