// RUN: moir-opt %s -p 'freeze-inputs{inputs="training->False","axes->[0 1]","fill->2"}' | filecheck %s

// The constant has the type of the input; one number fills a shape, an unknown dimension follows from the number of values.
// CHECK-LABEL: moir.model @values
// CHECK-NEXT:    opset1.Constant() {value = #moir.data<tensor<i1>, [false]>, name = "training", tensor_names = ["training"]} : tensor<i1>
// CHECK-NEXT:    opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>, name = "axes"} : tensor<2xsi64>
// CHECK-NEXT:    opset1.Constant() {value = #moir.data<tensor<1x3xf32>, [2.0, 2.0, 2.0]>, name = "fill"} : tensor<1x3xf32>
// CHECK-NEXT:    opset1.Parameter() {name = "x"} : tensor<1x3xf32>
builtin.module {
  moir.model @values {
    %t = opset1.Parameter() {name = "training", tensor_names = ["training"]} : tensor<i1>
    %a = opset1.Parameter() {name = "axes"} : tensor<?xsi64>
    %f = opset1.Parameter() {name = "fill"} : tensor<1x3xf32>
    %x = opset1.Parameter() {name = "x"} : tensor<1x3xf32>
    %1 = onnx.Mystery(%t, %a, %f, %x) : tensor<*x!moir.dynamic>
    opset1.Result(%1) {name = "y"}
  }
}
