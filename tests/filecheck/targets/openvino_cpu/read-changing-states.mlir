// RUN: moir-opt %s -p read-changing-states --split-input-file | filecheck %s

// The last value of the state that grows is a result, whose size ends a slice of everything.
// CHECK-LABEL: moir.model @grown
// CHECK:         %[[Y:[a-z0-9]+]], %[[H:[a-z0-9]+]] = opset5.Loop({{.*}}outputs = [#moir.port<2>, #moir.port<1>], condition = 0}
// CHECK:         %[[S:.*]] = opset3.ShapeOf(%[[H]])
// CHECK:         %[[N:.*]] = opset8.Gather(%[[S]],
// CHECK:         %[[END:.*]] = opset1.Add(%[[N]],
// CHECK:         %[[Z:.*]] = opset8.Slice(%[[Y]], %{{.*}}, %[[END]], {{.*}} {tensor_names = ["y"]}
// CHECK:         opset1.Result(%[[Z]])
builtin.module {
  moir.model @grown {
    %h = opset1.Parameter() {name = "h"} : tensor<1x2xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %y = opset5.Loop(%n, %t, %h, %s) {inputs = [#moir.port<2 back 1>, #moir.port<3 back 2>], outputs = [#moir.port<2>], condition = 0, tensor_names = ["y"]} ({
      %0 = opset1.Parameter() : tensor<?x2xf32>
      %1 = opset1.Parameter() : tensor<2xf32>
      %l = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %2 = opset1.Concat(%0, %0) {axis = 0} : tensor<?x2xf32>
      %3 = opset1.ReduceSum(%2, %l) {keep_dims = false} : tensor<2xf32>
      %4 = opset1.Add(%1, %3) : tensor<2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%c)
      opset1.Result(%2)
      opset1.Result(%4)
    }) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A state whose last value is used, or whose size is not known before the loop, is right as it is.
// CHECK-LABEL: moir.model @used
// CHECK-NOT:     Slice
builtin.module {
  moir.model @used {
    %h = opset1.Parameter() {name = "h"} : tensor<1x2xf32>
    %g = opset1.Parameter() {name = "g"} : tensor<?x2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<si64>
    %t = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %y = opset5.Loop(%n, %t, %h, %g) {inputs = [#moir.port<2 back 1>, #moir.port<3 back 2>], outputs = [#moir.port<1>], condition = 0} ({
      %0 = opset1.Parameter() : tensor<?x2xf32>
      %1 = opset1.Parameter() : tensor<?x2xf32>
      %2 = opset1.Concat(%0, %1) {axis = 0} : tensor<?x2xf32>
      %3 = opset1.Concat(%1, %1) {axis = 0} : tensor<?x2xf32>
      %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%c)
      opset1.Result(%2)
      opset1.Result(%3)
    }) : tensor<?x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}
