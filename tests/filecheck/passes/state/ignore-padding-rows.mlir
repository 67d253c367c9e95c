// RUN: moir-opt %s -p ignore-padding-rows | filecheck %s

// Rows of padding are not made zero: a finite mask keeps them from being NaN. Masks that are added lose their infinities.
// CHECK-LABEL: moir.model @rows
// CHECK:         %[[L:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [-3.4028235e+38]>}
// CHECK:         %[[M:.*]] = opset1.Select(%[[MASK:.*]], %{{.*}}, %[[L]]) : tensor<?x1x?x?xf32>
// CHECK-NEXT:    %[[A:.*]] = opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]])
// CHECK-NEXT:    %[[B:.*]] = opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %[[M]])
// CHECK:         %[[F:.*]] = opset1.Maximum(%{{.*}}, %{{.*}}) : tensor<?x1x?x?xf32>
// CHECK-NEXT:    %[[C:.*]] = opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %[[F]])
// CHECK:         opset1.Result(%[[A]]) {name = "a"}
// CHECK-NEXT:    opset1.Result(%[[B]]) {name = "b"}
// CHECK-NEXT:    opset1.Result(%[[C]]) {name = "c"}

// A number that is not zero, and a condition for each element, are something else.
// CHECK:         %[[D:.*]] = opset1.Select(
// CHECK:         opset1.Result(%[[D]]) {name = "d"}
// CHECK:         %[[E:.*]] = opset1.Select(
// CHECK:         opset1.Result(%[[E]]) {name = "e"}
builtin.module {
  moir.model @rows {
    %q = opset1.Parameter() {name = "q"} : tensor<?x2x?x4xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x2x?x4xf32>
    %mask = opset1.Parameter() {name = "mask"} : tensor<?x1x?x?xi1>
    %added = opset1.Parameter() {name = "added"} : tensor<?x1x?x?xf32>
    %any = opset1.Parameter() {name = "any"} : tensor<?x1x?x1xi1>
    %each = opset1.Parameter() {name = "each"} : tensor<?x1x?x4xi1>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %a = opset13.ScaledDotProductAttention(%q, %k, %k, %mask) : tensor<?x2x?x4xf32>
    %b = opset13.ScaledDotProductAttention(%k, %k, %k, %mask) : tensor<?x2x?x4xf32>
    %c = opset13.ScaledDotProductAttention(%q, %k, %k, %added) : tensor<?x2x?x4xf32>
    %d = opset13.ScaledDotProductAttention(%q, %k, %q, %mask) : tensor<?x2x?x4xf32>
    %e = opset13.ScaledDotProductAttention(%q, %q, %k, %mask) : tensor<?x2x?x4xf32>
    %a2 = opset1.Select(%any, %a, %zero) : tensor<?x2x?x4xf32>
    %b2 = opset1.Select(%any, %zero, %b) : tensor<?x2x?x4xf32>
    %c2 = opset1.Select(%any, %c, %zero) : tensor<?x2x?x4xf32>
    opset1.Result(%a2) {name = "a"}
    opset1.Result(%b2) {name = "b"}
    opset1.Result(%c2) {name = "c"}
    %d2 = opset1.Select(%any, %d, %one) : tensor<?x2x?x4xf32>
    opset1.Result(%d2) {name = "d"}
    %e2 = opset1.Select(%each, %e, %zero) : tensor<?x2x?x4xf32>
    opset1.Result(%e2) {name = "e"}
  }
}
