// RUN: moir-opt %s -p 'make-stateful{pairs="past=present","h_in=h_out"}' | filecheck %s

// The batch of the cache is that of another input, its length 0 before the first inference; what has a static shape is
// zero in this shape.
// CHECK-LABEL: moir.model @cache
// CHECK:         %[[H:.*]] = opset6.ReadValue(%{{.*}}) {variable_id = "h_inh_out", variable_type = f32, variable_shape = "1,4", name = "h_in"} : tensor<1x4xf32>
// CHECK:         %[[X:.*]] = opset1.Parameter() {name = "x", dimension_names = ["batch", "new"]} : tensor<?x?xf32>
// CHECK:         %[[S:.*]] = opset3.ShapeOf(%[[X]])
// CHECK-NEXT:    %[[B:.*]] = opset8.Gather(%[[S]],
// CHECK-NEXT:    %[[C:.*]] = opset1.Concat(%[[B]], %{{.*}}) {axis = 0} : tensor<2xsi64>
// CHECK-NEXT:    %[[Z:.*]] = opset3.Broadcast(%{{.*}}, %[[C]]) : tensor<?x0xf32>
// CHECK-NEXT:    %[[P:.*]] = opset6.ReadValue(%[[Z]]) {variable_id = "pastpresent", variable_type = f32, variable_shape = "?,?", name = "past"} : tensor<?x?xf32>
// CHECK:         %[[N:.*]] = opset1.Concat(%[[P]], %[[X]])
// CHECK-NEXT:    %[[A:.*]] = opset1.Tanh(%[[H]])
// CHECK-NEXT:    opset6.Assign(%[[N]]) {variable_id = "pastpresent"}
// CHECK:         opset1.Result(%{{.*}}) {name = "y"}
// CHECK-NEXT:    opset6.Assign(%[[A]]) {variable_id = "h_inh_out"}
// CHECK-NOT:     opset1.Result
builtin.module {
  moir.model @cache {
    %p = opset1.Parameter() {name = "past", dimension_names = ["batch", "length"]} : tensor<?x?xf32>
    %h = opset1.Parameter() {name = "h_in"} : tensor<1x4xf32>
    %x = opset1.Parameter() {name = "x", dimension_names = ["batch", "new"]} : tensor<?x?xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<2xsi64>
    %n = opset1.Concat(%p, %x) {axis = 1} : tensor<?x?xf32>
    %a = opset1.Tanh(%h) : tensor<1x4xf32>
    opset1.Result(%n) {name = "present"}
    %y = opset1.Relu(%n) : tensor<?x?xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%a) {name = "h_out"}
  }
}

// RUN: not moir-opt %s -p 'make-stateful{pairs="pasd=present"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// UNKNOWN: the model has no input 'pasd'; did you mean past?
// RUN: not moir-opt %s -p 'make-stateful{pairs="k=h_out"}' 2>&1 | filecheck %s --check-prefix=TYPES
// TYPES: the values of variable 'kh_out' have different types: it is read as tensor<2xsi64>, assigned as tensor<1x4xf32>
// RUN: not moir-opt %s -p 'make-stateful{pairs="past=present","past=y"}' 2>&1 | filecheck %s --check-prefix=TWICE
// TWICE: input 'past' is in two pairs
