// RUN: moir-opt %s | moir-opt | filecheck %s

builtin.module {
  moir.model @types {
    %a = opset1.Parameter() : tensor<*xf32>
    %b = opset1.Parameter() : tensor<f64>
    %c = opset1.Parameter() : tensor<?xbf16>
    %d = opset1.Parameter() : tensor<2x0xsi8>
    %e = opset1.Parameter() : tensor<?x?xui4>
    %f = opset1.Parameter() : tensor<1xi1>
    %g = opset1.Parameter() : tensor<?x!moir.string>
    %h = opset1.Parameter() : tensor<*x!moir.dynamic>
    %i = opset1.Parameter() : tensor<3x!moir.nf4>
  }
}

// CHECK: %a = opset1.Parameter() : tensor<*xf32>
// CHECK: %b = opset1.Parameter() : tensor<f64>
// CHECK: %c = opset1.Parameter() : tensor<?xbf16>
// CHECK: %d = opset1.Parameter() : tensor<2x0xsi8>
// CHECK: %e = opset1.Parameter() : tensor<?x?xui4>
// CHECK: %f = opset1.Parameter() : tensor<1xi1>
// CHECK: %g = opset1.Parameter() : tensor<?x!moir.string>
// CHECK: %h = opset1.Parameter() : tensor<*x!moir.dynamic>
// CHECK: %i = opset1.Parameter() : tensor<3x!moir.nf4>
