// RUN: moir-opt %s -p lower-mo | filecheck %s
// RUN: moir-opt %s -p lower-onnx | filecheck %s

// Operations that extensions made, in the same walk as those of a framework: an internal one, one of an operation set by its records,
// one that no operation set has, and one that stays for a later transformation.
builtin.module {
  moir.model @made {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %y = mo.Power(%x) {name = "scaled", node_attributes = #moir.python<"{'op': 'Power', 'type': None, 'scale': -1, 'shift': 2}">} : tensor<*x!moir.dynamic>
    %s = mo.Own(%y) {name = "own", node_attributes = #moir.python<"{'op': 'Own', 'type': 'SoftMax', 'version': 'opset1', 'axis': 0, 'IE': [('layer', [], [('data', ['axis'], [])])]}">} : tensor<*x!moir.dynamic>
    %e = mo.Block(%s) {name = "block", node_attributes = #moir.python<"{'op': 'Block', 'type': 'Block', 'version': 'experimental', 'sizes': [1, 2], 'IE': [('layer', [], [('data', [('n', 'sizes'), 'absent'], [])])]}">} : tensor<2x3xf32>
    %i = mo.Internal(%e) {name = "internal", node_attributes = #moir.python<"{'op': 'Internal', 'type': None}">} : tensor<*x!moir.dynamic>
    opset1.Result(%i)
  }
}
// CHECK:      moir.model @made {
// CHECK-NEXT:   %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
// CHECK:        [[NEGATED:%.*]] = opset1.Multiply(%x, %{{.*}}) : tensor<2x3xf32>
// CHECK:        %y = opset1.Add([[NEGATED]], %{{.*}}) {name = "scaled"} : tensor<2x3xf32>
// CHECK-NEXT:   %s = opset1.Softmax(%y) {axis = 0, name = "own"} : tensor<2x3xf32>
// CHECK-NEXT:   %e = extension.Block(%s) {n = "1,2", {{.*}}name = "block"} : tensor<2x3xf32>
// CHECK-NEXT:   %i = mo.Internal(%e) {{.*}} : tensor<*x!moir.dynamic>
// CHECK-NEXT:   opset1.Result(%i)
