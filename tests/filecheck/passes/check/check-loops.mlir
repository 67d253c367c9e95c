// RUN: not moir-opt %s -p check-loops 2>&1 | filecheck %s

// CHECK: opset5.Loop 'loop': dimension 1 of what it collects as output 0 may change from iteration to iteration
builtin.module {
  moir.model @counter {
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %y = opset5.Loop(%n, %t) {inputs = [#moir.port<iteration>], outputs = [#moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], condition = 0, name = "loop"} ({
      %i = opset1.Parameter() : tensor<si64>
      %a = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
      %b = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      %r = opset4.Range(%a, %i, %b) {output_type = si64} : tensor<?xsi64>
      %u = opset1.Unsqueeze(%r, %a) : tensor<1x?xsi64>
      opset1.Result(%c)
      opset1.Result(%u)
    }) : tensor<?x?xsi64>
    opset1.Result(%y) {name = "y"}
  }
}
