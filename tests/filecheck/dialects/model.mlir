// RUN: moir-opt %s | moir-opt - | filecheck %s
// RUN: moir-opt %s --print-op-generic | moir-opt | filecheck %s

builtin.module {
  moir.model @"a name / with marks" attributes {opset_import = {"" = 17 : i64, "com.microsoft" = 1 : i64}, conversion_parameters = {input_model = "a.onnx"}} {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x,alias"]} : tensor<?x3xf32>
    %unused = opset1.Parameter() {name = "second", bounds = "1..10,3"} : tensor<?x3xf16>
    %none = moir.none
    opset1.Result(%x) {name = "out"}
  }
}

// CHECK:      moir.model @"a name / with marks" attributes {opset_import = {"" = 17 : i64, com.microsoft = 1 : i64}, conversion_parameters = {input_model = "a.onnx"}} {
// CHECK-NEXT:   %x = opset1.Parameter() {{{.*}}tensor_names = ["x,alias"]} : tensor<?x3xf32>
// CHECK-NEXT:   %unused = opset1.Parameter() {{{.*}}bounds = "1..10,3"{{.*}}} : tensor<?x3xf16>
// CHECK-NEXT:   %none = moir.none
// CHECK-NEXT:   opset1.Result(%x) {name = "out"}
// CHECK-NEXT: }
