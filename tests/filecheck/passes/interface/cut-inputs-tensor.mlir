// RUN: moir-opt %s -p 'cut-inputs{inputs="split:1"}' | filecheck %s

// An output port: the new input takes the place of the tensor, and its names. The other output is as it was.
// CHECK-LABEL: moir.model @tensor
// CHECK-NEXT:    %[[N:.*]] = opset1.Parameter() {name = "split/placeholder_out_port_1", tensor_names = ["c,split:1"]} : tensor<1x4xf16>
// CHECK-NEXT:    %[[E:.*]] = onnx.Exp(%[[N]]) {name = "exp"}
// CHECK-NEXT:    opset1.Result(%[[E]]) {name = "y"}
// CHECK-NEXT:  }
builtin.module {
  moir.model @tensor {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xf16>
    %1, %2 = onnx.Split(%x) {name = "split", tensor_names = ["b", "c"]} : tensor<1x4xf16>, tensor<1x4xf16>
    %3 = onnx.Exp(%2) {name = "exp"} : tensor<*x!moir.dynamic>
    opset1.Result(%3) {name = "y"}
  }
}
