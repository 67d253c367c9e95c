// RUN: not moir-opt %s 2>&1 | filecheck %s

// CHECK: moir-opt: error: {{.*}}misspelt-operation.mlir:4:{{[0-9]+}}: Operation opset1.Convolutoin is not registered; did you mean opset1.Convolution?
moir.model @m { %0 = opset1.Convolutoin() : tensor<1xf32> }
