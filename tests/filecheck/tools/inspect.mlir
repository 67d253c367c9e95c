// What is in a model, and what of it cannot be converted. A text of a module is a model, too.
// RUN: moir inspect %s | filecheck %s --match-full-lines --strict-whitespace
// RUN: moir inspect %s --node glu | filecheck %s --check-prefix=NODE --match-full-lines
// RUN: moir inspect %s --node product --json | filecheck %s --check-prefix=JSON
// RUN: not moir inspect %s --node gluu 2>&1 | filecheck %s --check-prefix=NO-NODE
// RUN: not moir inspect %s --no 2>&1 | filecheck %s --check-prefix=USAGE

// CHECK:model
// CHECK-NEXT:  name                  m
// CHECK-NEXT:  format                text of a module
// CHECK-NEXT:  opset_import ai.onnx  17
// CHECK-EMPTY:
// CHECK-NEXT:inputs, with shapes as --input takes them, before --layout
// CHECK-NEXT:  name  type  shape    layout
// CHECK-NEXT:  x     f32   [n,?,8]  nch
// CHECK-EMPTY:
// CHECK-NEXT:outputs
// CHECK-NEXT:  name  type     shape  layout
// CHECK-NEXT:  y     dynamic  [...]
// CHECK-EMPTY:
// CHECK-NEXT:operations: 4
// CHECK-NEXT:  kind                  count
// CHECK-NEXT:  onnx.Elu              1
// CHECK-NEXT:  onnx.com.example.Glu  1      cannot be converted
// CHECK-NEXT:  onnx.MatMul           1
// CHECK-NEXT:  onnx.Celu             1
// CHECK-EMPTY:
// CHECK-NEXT:cannot be converted
// CHECK-NEXT:  kind                  nodes  reason
// CHECK-NEXT:  onnx.Elu              elu    attribute alpha is 'a', not of type float
// CHECK-NEXT:  onnx.com.example.Glu  glu    there is no lowering
// CHECK-EMPTY:
// CHECK-NEXT:weights: 48 B
// CHECK-NEXT:  type  count  elements  size
// CHECK-NEXT:  f16   1      24        48 B
// CHECK-EMPTY:
// CHECK-NEXT:largest weights
// CHECK-NEXT:  name  type  shape  size
// CHECK-NEXT:  w     f16   [8,3]  48 B

// NODE:      glu
// NODE-NEXT:   kind  onnx.com.example.Glu
// NODE-NEXT:         cannot be converted
// NODE:      attributes
// NODE-NEXT:   name  value
// NODE-NEXT:   axis  1
// NODE-NEXT:   slopes [1.0, 2.5]
// NODE:      operands
// NODE-NEXT:      type  tensor from
// NODE-NEXT:   0  ?[...] onnx.Elu 'elu':0
// NODE-NEXT:   1  f16[8,3] opset1.Constant 'w':0
// NODE:      results
// NODE-NEXT:      type tensor to
// NODE-NEXT:   0 ?[...] onnx.MatMul 'product':0

// JSON:      "node": "product"
// JSON-NEXT: "operation": "onnx.MatMul"
// JSON-NEXT: "convertible": true

// NO-NODE: moir inspect: error: there is no node or tensor 'gluu'; did you mean glu
// USAGE: moir inspect: error: there is no option --no
moir.model @m attributes {opset_import = {ai.onnx = 17 : i64}} {
  %x = opset1.Parameter() {name = "x", dimension_names = ["n", "", ""], runtime_info = {layout = {version = "0", layout = "[N,C,H]"}}} : tensor<?x?x8xf32>
  %w = opset1.Constant() {value = #moir.data<tensor<8x3xf16>, elided "0">, name = "w"} : tensor<8x3xf16>
  %a = onnx.Elu(%x) {alpha = "a", name = "elu"} : tensor<*x!moir.dynamic>
  %b = onnx.com.example.Glu(%a, %w) {axis = 1, slopes = [1.0, 2.5], name = "glu"} : tensor<*x!moir.dynamic>
  %c = onnx.MatMul(%b, %w) {name = "product"} : tensor<*x!moir.dynamic>
  %d = onnx.Celu(%c) {name = "celu"} : tensor<*x!moir.dynamic>
  opset1.Result(%d) {name = "y"}
}
