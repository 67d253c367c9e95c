// RUN: moir-opt %s -p low-latency | filecheck %s
// RUN: moir-opt %s -p 'low-latency{use-const-initializer=false}' | filecheck %s --check-prefix=OWN

// The state of a sequence starts at zeros, or at what the model computes for it.
// CHECK-LABEL: moir.model @sequence
// CHECK:         %[[I:.*]] = opset1.Parameter() {name = "h"} : tensor<?x1x2xf32>
// CHECK:         %[[S:.*]] = opset3.ShapeOf(%[[I]])
// CHECK:         %[[Z:.*]] = opset3.Broadcast(%{{.*}}, %[[S]])
// CHECK:         %[[R:.*]] = opset6.ReadValue(%[[Z]]) {variable_id = "gru/state", variable_type = f32, variable_shape = "?,1,2"} : tensor<?x1x2xf32>
// CHECK:         %[[Y:.*]], %[[H:.*]] = opset5.GRUSequence(%{{.*}}, %[[R]],
// CHECK-NEXT:    opset6.Assign(%[[H]]) {variable_id = "gru/state"}
// OWN-LABEL:   moir.model @sequence
// OWN:           %[[I:.*]] = opset1.Parameter() {name = "h"} : tensor<?x1x2xf32>
// OWN:           opset6.ReadValue(%[[I]]) {variable_id = "gru/state"
builtin.module {
  moir.model @sequence {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x1x2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<?xsi32>
    %w = opset1.Parameter() {name = "w"} : tensor<1x6x3xf32>
    %r = opset1.Parameter() {name = "r"} : tensor<1x6x2xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<1x6xf32>
    %y, %last = opset5.GRUSequence(%x, %h, %n, %w, %r, %b) {hidden_size = 2, direction = "forward", name = "gru"} : tensor<?x1x?x2xf32>, tensor<?x1x2xf32>
    opset1.Result(%y) {name = "y"}
  }

  // One that is read from its end is left as it is.
  // CHECK-LABEL: moir.model @reverse attributes {notes = ["low latency: GRUSequence 'gru' is left as it is, as it reads its sequence from the end"]}
  // CHECK-NOT:     opset6
  moir.model @reverse {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x1x2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<?xsi32>
    %w = opset1.Parameter() {name = "w"} : tensor<1x6x3xf32>
    %r = opset1.Parameter() {name = "r"} : tensor<1x6x2xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<1x6xf32>
    %y, %last = opset5.GRUSequence(%x, %h, %n, %w, %r, %b) {hidden_size = 2, direction = "reverse", name = "gru"} : tensor<?x1x?x2xf32>, tensor<?x1x2xf32>
    opset1.Result(%y) {name = "y"}
  }

  // The loop gets a result for the last value of its state. Its counter, an integer, is no state.
  // CHECK-LABEL: moir.model @loop
  // CHECK:         %[[R:.*]] = opset6.ReadValue(%{{.*}}) {variable_id = "loop/state", variable_type = f32, variable_shape = "2"} : tensor<2xf32>
  // CHECK:         %[[Y:.*]], %[[L:.*]] = opset1.TensorIterator(%{{.*}}, %[[R]], %{{.*}}) {{.*}}outputs = [#moir.port<1 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<0>]
  // CHECK:         opset6.Assign(%[[L]]) {variable_id = "loop/state"}
  moir.model @loop {
    %x = opset1.Parameter() {name = "x"} : tensor<4x2xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<2xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<si32>
    %y = opset1.TensorIterator(%x, %s, %c) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<1 back 0>, #moir.port<2 back 2>], outputs = [#moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], name = "loop"} ({
      %e = opset1.Parameter() : tensor<1x2xf32>
      %t = opset1.Parameter() : tensor<2xf32>
      %k = opset1.Parameter() : tensor<si32>
      %0 = opset1.Add(%e, %t) : tensor<1x2xf32>
      %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %2 = opset1.Squeeze(%0, %1) : tensor<2xf32>
      %3 = opset1.Add(%k, %k) : tensor<si32>
      opset1.Result(%2)
      opset1.Result(%0)
      opset1.Result(%3)
    }) : tensor<4x2xf32>
    opset1.Result(%y) {name = "y"}
  }

  // The body of a loop of one iteration takes its place.
  // CHECK-LABEL: moir.model @step
  // CHECK:         %[[X:.*]] = opset1.Parameter() {name = "x"} : tensor<1x2xf32>
  // CHECK:         %[[R:.*]] = opset6.ReadValue(
  // CHECK-NOT:     opset1.TensorIterator
  // CHECK:         %[[Y:.*]] = opset1.Add(%[[X]], %[[R]]) : tensor<1x2xf32>
  // CHECK:         %[[S:.*]] = opset1.Squeeze(%[[Y]],
  // CHECK:         opset6.Assign(%[[S]])
  // CHECK:         opset1.Result(%[[Y]])
  moir.model @step {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<2xf32>
    %y = opset1.TensorIterator(%x, %s) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<1 back 0>], outputs = [#moir.port<1 axis 0 from 0 to -1 stride 1 part 1>]} ({
      %e = opset1.Parameter() : tensor<1x2xf32>
      %t = opset1.Parameter() : tensor<2xf32>
      %0 = opset1.Add(%e, %t) : tensor<1x2xf32>
      %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %2 = opset1.Squeeze(%0, %1) : tensor<2xf32>
      opset1.Result(%2)
      opset1.Result(%0)
    }) : tensor<1x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}
