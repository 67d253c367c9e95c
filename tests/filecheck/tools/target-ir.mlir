// RUN: moir-opt %s -t ir | filecheck %s
// RUN: moir-opt %s -t ir -o %t.xml
// RUN: filecheck %s --input-file %t.xml

moir.model @m attributes {conversion_parameters = {input_model = "a/b.onnx"}} {
  %x = opset1.Parameter() {name = "x"} : tensor<1xf32>
  opset1.Result(%x) {name = "r"}
}

// CHECK: <net name="m" version="11">
// CHECK: type="Parameter" version="opset1"
// CHECK: <edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
// CHECK: <conversion_parameters>
// CHECK-NEXT: <input_model value="DIR/b.onnx"/>
