// RUN: moir-opt < %s | filecheck %s
// RUN: moir-opt - < %s | filecheck %s
// RUN: moir-opt -o - < %s | filecheck %s

// CHECK: opset1.Parameter
moir.model @m { %x = opset1.Parameter() : tensor<1xf32> }
