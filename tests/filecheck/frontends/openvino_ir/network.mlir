// RUN: moir-opt %S/Inputs/network.xml | filecheck %s
// RUN: moir-opt %S/Inputs/network.xml -p default | filecheck %s --check-prefix=DEFAULT
// RUN: moir-opt %S/Inputs/network.xml -t ir | filecheck %s --check-prefix=AGAIN

// A model in the IR is read in opset dialects: names, bounds, runtime information; what no operation set has is open.
// CHECK:       moir.model @network attributes {notes = ["layer Scale 'custom': OpenVINO has no operation set 'mine'; the runtime needs an extension with it"], runtime_info = {Runtime_version = "1"}, conversion_parameters = {framework = "openvino_ir", input_model = "network.xml"}} {
// CHECK-NEXT:    %0 = opset1.Parameter() {bounds = "1..4,3", name = "x", runtime_info = {layout = {version = "0", layout = "[N,C]"}}, tensor_names = ["x"]} : tensor<?x3xf32>
// CHECK-NEXT:    %1 = opset1.Constant() {value = #moir.data<tensor<3xf16>, [{{.*}}]>, name = "w_compressed"} : tensor<3xf16>
// CHECK-NEXT:    %2 = opset1.Convert(%1) {destination_type = f32, name = "w", runtime_info = {decompression = {version = "0"}}} : tensor<3xf32>
// CHECK-NEXT:    %3 = opset1.Add(%0, %2) {name = "sum", tensor_names = ["a,b"]} : tensor<?x3xf32>
// CHECK-NEXT:    %4 = extension.Scale(%3) {factor = "2.5", name = "custom", layer_version = "mine", tensor_names = [""]} : tensor<?x3xf32>
// CHECK-NEXT:    opset1.Result(%4) {name = "y"}

// The default pipeline leaves what it cannot improve, and weights in half precision.
// DEFAULT:       opset1.Constant() {value = #moir.data<tensor<3xf16>
// DEFAULT-NEXT:  opset1.Convert
// DEFAULT-NEXT:  opset1.Add
// DEFAULT-NEXT:  extension.Scale

// AGAIN: <layer id="0" name="x" type="Parameter" version="opset1">
// AGAIN: <data shape="1..4,3" element_type="f32"/>
// AGAIN: <attribute name="layout" version="0" layout="[N,C]"/>
// AGAIN: <layer id="4" name="custom" type="Scale" version="mine">
// AGAIN-NEXT: <data factor="2.5"/>
// AGAIN: <Runtime_version value="1"/>
