// RUN: moir-opt %s --extensions %S/Inputs/extension | filecheck %s --check-prefix=TEXT
// RUN: moir-opt %s --extensions %S/Inputs/extension -p lower-onnx | filecheck %s --check-prefix=LOWER
// RUN: moir-opt %s --extensions %S/Inputs/extension -p lower-onnx,multiply-to-half,eliminate-dead | filecheck %s --check-prefix=HALF
// RUN: moir-opt %s --extensions %S/Inputs/extension -p lower-onnx,half-to-multiply | filecheck %s --check-prefix=MULTIPLY
// RUN: moir-opt %s --extensions %S/Inputs/extension -p default | filecheck %s --check-prefix=HALF
// RUN: moir-opt %s --extensions %S/Inputs/extension -p default --enable half-to-multiply --disable multiply-to-half | filecheck %s --check-prefix=ENABLED
// RUN: moir-opt %s --extensions %S/Inputs/extension -p default -t ir | filecheck %s --check-prefix=IR
// RUN: not moir-opt %s --extensions %S/Inputs/extension -p halve 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not moir-opt %s --extensions %S/Inputs 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not moir-opt %s -p lower-onnx,check-lowered 2>&1 | filecheck %s --check-prefix=CLOSED

builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %a = onnx.com.example.Half(%x) {exact = 0, name = "a"} : tensor<2x4xf32>
    %b = extension.Half(%a) {name = "b"} : tensor<2x4xf32>
    %c = opset1.Multiply(%b, %half) {name = "c"} : tensor<2x4xf32>
    opset1.Result(%c) {name = "r"}
  }
}

// TEXT: onnx.com.example.Half(%x) {exact = 0, name = "a"}
// TEXT: extension.Half(%a) {name = "b"}

// LOWER: extension.Half(%x) {exact = false, name = "a"} : tensor<2x4xf32>
// LOWER-NEXT: extension.Half(%a) {name = "b"} : tensor<2x4xf32>
// LOWER-NEXT: opset1.Multiply

// HALF-NOT: Multiply
// HALF: extension.Half(%x) {exact = false, name = "a"}
// HALF-NEXT: extension.Half({{.*}}) {name = "b"}
// HALF-NEXT: extension.Half({{.*}}) {name = "c"}

// MULTIPLY-NOT: extension.
// MULTIPLY-COUNT-3: opset1.Multiply

// ENABLED-NOT: extension.
// ENABLED: opset1.Multiply

// IR: <layer id="1" name="a" type="Half" version="extension">
// IR-NEXT: <data exact="false"/>

// UNKNOWN: moir-opt: error: there is no pass 'halve'; `moir passes` lists the passes
// NONE: Inputs: the directory holds no extension; extensions have at least one of the directories ops, front, middle, back
// CLOSED: no lowering for 1 kind of operation: onnx.com.example.Half ('a')
