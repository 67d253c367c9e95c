// RUN: moir-opt %s | filecheck %s --check-prefix=ELIDED
// RUN: moir-opt %s | not moir-opt -t ir 2>&1 | filecheck %s --check-prefix=LOST
// RUN: moir-opt %s --weights-file %t.bin -o %t.mlir
// RUN: moir-opt %t.mlir | filecheck %s --check-prefix=ELIDED
// RUN: filecheck %s --input-file %t.mlir
// RUN: moir-opt %t.mlir -t ir | filecheck %s --check-prefix=XML

// The side file of the input is not replaced.
// RUN: not moir-opt %t.mlir --weights-file %t.bin -o %t.mlir 2>&1 | filecheck %s --check-prefix=SAME
// RUN: moir-opt %t.mlir -t ir | filecheck %s --check-prefix=XML

builtin.module {
  moir.model @m {
    %a = opset1.Constant() {value = #moir.data<tensor<2x3xsi64>, [1, 2, 3, 4, 5, 6]>, name = "a"} : tensor<2x3xsi64>
    %t = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 3]>, name = "t"} : tensor<2xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<3x3xf64>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]>, name = "b"} : tensor<3x3xf64>
    %c = opset1.Constant() {value = #moir.data<tensor<3x3xf64>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]>, name = "c"} : tensor<3x3xf64>
    %d = opset1.Constant() {value = #moir.data<tensor<9xsi64>, [1, 2, 3, 4, 5, 6, 7, 8, 9]>, name = "d"} : tensor<9xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<2x!moir.string>, ["a long text, too long for the text form", "and another one, which makes it more than 64"]>, name = "e"} : tensor<2x!moir.string>
  }
}

// ELIDED: [1, 2, 3, 4, 5, 6]
// ELIDED: #moir.data<tensor<3x3xf64>, elided "[[KEY:[0-9a-f]+]]">
// ELIDED: #moir.data<tensor<3x3xf64>, elided "[[KEY]]">

// LOST: moir-opt: error: <stdin>:5:5: opset1.Constant 'b': the value of a constant of shape [3, 3] was left out of the text; print with --weights-file FILE

// CHECK: [1, 2, 3, 4, 5, 6]
// CHECK: #moir.data<tensor<3x3xf64>, "{{.*}}.bin", 0>
// CHECK: #moir.data<tensor<3x3xf64>, "{{.*}}.bin", 0>
// CHECK: #moir.data<tensor<9xsi64>, "{{.*}}.bin", 128>
// CHECK: #moir.data<tensor<2x!moir.string>, ["a long text, too long for the text form", "and another one, which makes it more than 64"]>

// XML: name="d" type="Const"

// SAME: moir-opt: error: {{.*}}.bin: this file belongs to the model that is converted; choose another output
