// RUN: moir-opt %S/Inputs/branches.pbtxt | filecheck %s

// Branches are regions with Parameters and Results; what only checks is left out, and a note says so.
// CHECK:      moir.model @branches attributes {{{.*}}notes = ["left out checks and printing (1 Assert)"]{{.*}}} {
// CHECK-NEXT:   %0 = opset1.Parameter() {name = "x", tensor_names = ["x,x:0"]} : tensor<?x2xf32>
// CHECK-NEXT:   %1 = opset1.Parameter() {name = "flag", tensor_names = ["flag,flag:0"]} : tensor<i1>
// CHECK-NEXT:   %2 = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0.5, 0.5]>, name = "w", tensor_names = ["w,w:0"]} : tensor<2xf32>
// CHECK-NEXT:   %3 = tf.StatelessIf(%1, %0, %2) {Tcond = i1, graph_attributes = ["then_branch", "else_branch"], name = "choice", {{.*}}} ({
// CHECK-NEXT:     %4 = opset1.Parameter() {name = "choice/a", tensor_names = ["choice/a"]} : tensor<*xf32>
// CHECK-NEXT:     %5 = opset1.Parameter() {name = "choice/b", tensor_names = ["choice/b"]} : tensor<*xf32>
// CHECK-NEXT:     %6 = tf.Mul(%4, %5) {name = "choice/mul", {{.*}}} : tensor<*x!moir.dynamic>
// CHECK-NEXT:     opset1.Result(%6) {name = "choice/r"}
// CHECK-NEXT:   }, {
// CHECK:          %{{.*}} = tf.AddV2(%{{.*}}, %{{.*}}) {name = "choice/add", {{.*}}}
// CHECK:        }) : tensor<*x!moir.dynamic>
// CHECK-NEXT:   %10 = tf.LeakyRelu(%3) {alpha = 0.1, name = "y", tensor_names = ["y,y:0"]} : tensor<*x!moir.dynamic>
// CHECK-NEXT:   opset1.Result(%10) {name = "y"}
// CHECK-NEXT: }
