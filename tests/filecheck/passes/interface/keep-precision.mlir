// RUN: moir-opt %s -p 'keep-precision{nodes=norm,product}' | filecheck %s
// RUN: not moir-opt %s -p 'keep-precision{nodes=nrom}' 2>&1 | filecheck %s --check-prefix=UNKNOWN

// A name is that of an operation, or of a node from which several may come.
// CHECK:      opset1.MatMul(%x, %w) {{{.*}}runtime_info = {precise = {version = "0"}}
// CHECK:      opset1.Add(%{{.*}}, %b) {{{.*}}runtime_info = {precise = {version = "0"}}
// CHECK:      opset6.MVN(%{{.*}}) {{{.*}}runtime_info = {fused_names = {value = "n"}, precise = {version = "0"}}
// CHECK:      opset1.Relu(%{{[0-9]+}}) {name = "y"}

// UNKNOWN: there is no node 'nrom' whose precision could be kept; did you mean norm?
builtin.module {
  moir.model @main {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %0 = opset1.MatMul(%x, %w) : tensor<2x4xf32> loc("product"("onnx.Gemm"))
    %1 = opset1.Add(%0, %b) : tensor<2x4xf32> loc("product"("onnx.Gemm"))
    %2 = opset6.MVN(%1, %a) {eps = 1.0e-5 : f32, normalize_variance = true, eps_mode = "INSIDE_SQRT", name = "norm", runtime_info = {fused_names = {value = "n"}}} : tensor<2x4xf32>
    %3 = opset1.Relu(%2) {name = "y"} : tensor<2x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}
