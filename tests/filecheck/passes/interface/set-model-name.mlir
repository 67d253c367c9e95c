// RUN: moir-opt %s -p 'set-model-name{to="net 1"}' | filecheck %s

// CHECK: moir.model @"net 1" {
builtin.module {
  moir.model @graph {
    %x = opset1.Parameter() {name = "x"} : tensor<1x3xf32>
    opset1.Result(%x) {name = "y"}
  }
}
