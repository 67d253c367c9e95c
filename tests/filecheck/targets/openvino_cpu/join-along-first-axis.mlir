// RUN: moir-opt %s -p join-along-first-axis --verify-each --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @columns
// CHECK:           opset1.TensorIterator(%x) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>]{{.*}}} ({
// CHECK:             opset1.Transpose(%column, {{.*}}) : tensor<1x?xf32>
// CHECK:           }) : tensor<?x?xf32>
// CHECK:           opset1.Transpose({{.*}}) {{.*}}: tensor<?x?xf32>
// CHECK:           opset1.Abs
builtin.module {
  moir.model @columns {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %y = opset1.TensorIterator(%x) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 1 from 0 to -1 stride 1 part 1>], name = "t"} ({
      %row = opset1.Parameter() : tensor<1x?xf32>
      %order = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
      %column = opset1.Transpose(%row, %order) : tensor<?x1xf32>
      opset1.Result(%column)
    }) : tensor<?x?xf32>
    %z = opset1.Abs(%y) : tensor<?x?xf32>
    opset1.Result(%z) {name = "out"}
  }
}

// -----

// The sizes before the axis are known.
// CHECK-LABEL: moir.model @known
// CHECK:           outputs = [#moir.port<0 axis 1 from 0 to -1 stride 1 part 1>]
// CHECK-NOT:       }) : tensor<?x3xf32>
builtin.module {
  moir.model @known {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %y = opset1.TensorIterator(%x) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 1 from 0 to -1 stride 1 part 1>], name = "t"} ({
      %row = opset1.Parameter() : tensor<1x3xf32>
      %order = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
      %column = opset1.Transpose(%row, %order) : tensor<3x1xf32>
      opset1.Result(%column)
    }) : tensor<3x?xf32>
    opset1.Result(%y) {name = "out"}
  }
}
