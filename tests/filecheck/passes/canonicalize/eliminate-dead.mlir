// RUN: moir-opt %s -p eliminate-dead --split-input-file | filecheck %s

// A chain without uses goes in one walk; the unread input of the model stays.
// CHECK-LABEL: moir.model @chain
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:    opset1.Parameter() {name = "unused"}
// CHECK-NEXT:    opset1.Result(%[[X]])
// CHECK-NEXT:  }
builtin.module {
  moir.model @chain {
    %0 = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %1 = opset1.Parameter() {name = "unused"} : tensor<2xf32>
    %2 = opset1.Relu(%0) : tensor<2xf32>
    %3 = opset1.Relu(%2) : tensor<2xf32>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

// What no branch reads is no operand of the If.
// CHECK-LABEL: moir.model @branches
// CHECK:         opset8.If(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) {then_inputs = [1], else_inputs = [1]}
// CHECK-NOT:     opset1.Relu
builtin.module {
  moir.model @branches {
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %r = opset1.Relu(%x) : tensor<2xf32>
    %y = opset8.If(%c, %r, %x) {then_inputs = [1, 2], else_inputs = [1, 2]} ({
      %0 = opset1.Parameter() : tensor<2xf32>
      %1 = opset1.Parameter() : tensor<2xf32>
      %2 = opset1.Abs(%1) : tensor<2xf32>
      opset1.Result(%2)
    }, {
      %3 = opset1.Parameter() : tensor<2xf32>
      %4 = opset1.Parameter() : tensor<2xf32>
      opset1.Result(%4)
    }) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// The node at the end of a loop of TensorFlow 1 has no use: it feeds the Merge that it names. That of a loop without uses
// is erased.
// CHECK-LABEL: moir.model @frames
// CHECK:         tf.Merge(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}) {name = "merge"}
// CHECK:         tf.NextIteration(%{{[a-z0-9]+}}) {merge = "merge", index = 1}
// CHECK-NOT:     unused
builtin.module {
  moir.model @frames {
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %0 = moir.none
    %1 = tf.Enter(%x) {frame_name = "loop"} : tensor<*x!moir.dynamic>
    %2 = tf.Merge(%1, %0) {name = "merge"} : tensor<*x!moir.dynamic>
    %3 = tf.Exp(%2) : tensor<*x!moir.dynamic>
    %4 = tf.NextIteration(%3) {merge = "merge", index = 1} : tensor<*x!moir.dynamic>
    %5 = tf.Merge(%1, %0) {name = "unused"} : tensor<*x!moir.dynamic>
    %6 = tf.NextIteration(%5) {merge = "unused", index = 1} : tensor<*x!moir.dynamic>
    %7 = tf.Exit(%2) : tensor<*x!moir.dynamic>
    opset1.Result(%7) {name = "y"}
  }
}

// -----

// What a loop collects at its end for no use is not collected.
// CHECK-LABEL: moir.model @collected
// CHECK:         %[[Y:[a-z0-9]+]] = opset5.Loop(%{{.*}}) {inputs = [#moir.port<2 back 0>], outputs = [#moir.port<0>], condition = 1}
// CHECK-NEXT:      %[[H:.*]] = opset1.Parameter
// CHECK-NEXT:      %[[N:.*]] = opset1.Relu(%[[H]])
// CHECK-NEXT:      opset1.Constant
// CHECK-NEXT:      opset1.Result(%[[N]])
// CHECK-NEXT:      opset1.Result
// CHECK-NEXT:    })
builtin.module {
  moir.model @collected {
    %h = opset1.Parameter() {name = "h"} : tensor<2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %y, %a = opset5.Loop(%n, %t, %h) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>, #moir.port<0 axis 0 from 0 to -1 stride 1 part 1>], condition = 2} ({
      %0 = opset1.Parameter() : tensor<2xf32>
      %1 = opset1.Relu(%0) : tensor<2xf32>
      %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %3 = opset1.Unsqueeze(%0, %2) : tensor<1x2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%3)
      opset1.Result(%1)
      opset1.Result(%c)
    }) : tensor<2xf32>, tensor<?x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// The first value of a state is the result if the loop has no iteration.
// CHECK-LABEL: moir.model @state
// CHECK:         opset5.Loop(%n, %t, %x) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0}
builtin.module {
  moir.model @state {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %1 = opset5.Loop(%n, %t, %x) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0} ({
      %a = opset1.Parameter() : tensor<2xf32>
      %v = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%c)
      opset1.Result(%v)
    }) : tensor<2xf32>
    opset1.Result(%1) {name = "y"}
  }
}
