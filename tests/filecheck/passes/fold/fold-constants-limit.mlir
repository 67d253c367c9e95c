// RUN: moir-opt %s -p fold-constants | filecheck %s

// A few bytes may not become gigabytes.
// CHECK: opset3.Broadcast
builtin.module {
  moir.model @large {
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %s = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1000000, 1000000]>} : tensor<2xsi64>
    %b = opset3.Broadcast(%a, %s) {name = "big"} : tensor<1000000x1000000xf32>
    opset1.Result(%b) {name = "y"}
  }
}
