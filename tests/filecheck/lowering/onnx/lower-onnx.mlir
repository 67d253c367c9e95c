// RUN: moir-opt %s -p lower-onnx | filecheck %s

// Nodes become operations of operation sets, typed, with the node's name; a kind without lowering stays.
// CHECK-LABEL: moir.model @nodes
// CHECK:         %[[E:.*]] = opset1.Elu(%{{.*}}) {alpha = 0.5, name = "elu", tensor_names = ["e"]} : tensor<?x4xf32>
// CHECK:         onnx.com.acme.Custom(%[[E]])
builtin.module {
  moir.model @nodes attributes {opset_import = {"" = 17 : i64, "com.acme" = 1 : i64}} {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %e = onnx.Elu(%x) {alpha = 0.5, name = "elu", tensor_names = ["e"]} : tensor<*x!moir.dynamic>
    %c = onnx.com.acme.Custom(%e) {name = "c"} : tensor<*x!moir.dynamic>
    opset1.Result(%c) {name = "y"}
  }
}
