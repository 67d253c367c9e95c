// RUN: moir-opt %s | moir-opt | filecheck %s
// RUN: moir-opt %s -t ir | filecheck %s --check-prefix=XML

builtin.module {
  moir.model @repetition {
    %x = opset1.Parameter() {name = "x"} : tensor<5x2xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<1x2xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [5]>, name = "n"} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>, name = "t"} : tensor<i1>
    %last, %all = opset5.Loop(%n, %t, %s, %x) {
        inputs = [#moir.port<2 back 1>, #moir.port<3 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<iteration>],
        outputs = [#moir.port<1>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], condition = 0, name = "loop"} ({
      %state = opset1.Parameter() {name = "state"} : tensor<1x2xf32>
      %row = opset1.Parameter() {name = "row"} : tensor<1x2xf32>
      %i = opset1.Parameter() {name = "i"} : tensor<si64>
      %true = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>, name = "true"} : tensor<i1>
      %sum = opset1.Add(%state, %row) {name = "sum"} : tensor<1x2xf32>
      opset1.Result(%true) {name = "again"}
      opset1.Result(%sum) {name = "next"}
    }) : tensor<1x2xf32>, tensor<5x2xf32>
    opset1.Result(%last) {name = "a"}
    opset1.Result(%all) {name = "b"}
  }
}

// CHECK: opset5.Loop(%n, %t, %s, %x) {inputs = [#moir.port<2 back 1>, #moir.port<3 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<iteration>], outputs = [#moir.port<1>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], condition = 0, name = "loop"} ({
// CHECK: }) : tensor<1x2xf32>, tensor<5x2xf32>

// XML: <layer id="4" name="loop" type="Loop" version="opset5">
// XML: <port_map>
// XML: <back_edges>
