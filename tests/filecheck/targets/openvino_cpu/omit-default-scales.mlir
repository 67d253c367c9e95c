// RUN: moir-opt %s -p omit-default-scales,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @usual
// CHECK:           %v = opset1.Parameter
// CHECK-NEXT:      %0 = opset13.ScaledDotProductAttention(%q, %k, %v) : tensor<?x2x?x4xf32>
// CHECK-NEXT:      %m = opset1.Parameter
// CHECK-NEXT:      %1 = opset13.ScaledDotProductAttention(%q, %k, %v, %m) {name = "a"} : tensor<?x2x?x4xf32>
builtin.module {
  moir.model @usual {
    %q = opset1.Parameter() {name = "q"} : tensor<?x2x?x4xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x2x?x4xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x2x?x4xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset13.ScaledDotProductAttention(%q, %k, %v, %zero, %half) {causal = false} : tensor<?x2x?x4xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<?x1x1x?xf32>
    %2 = opset13.ScaledDotProductAttention(%q, %k, %v, %m, %half) {causal = false, name = "a"} : tensor<?x2x?x4xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// Another scale, a width that is not known, and a mask of several numbers, which may enlarge the result.
// CHECK-LABEL: moir.model @others
// CHECK:           ScaledDotProductAttention(%q, %k, %v, %zero, %one)
// CHECK:           ScaledDotProductAttention(%r, %k, %v, %zero, %half)
// CHECK:           ScaledDotProductAttention(%q, %k, %v, %zeros)
builtin.module {
  moir.model @others {
    %q = opset1.Parameter() {name = "q"} : tensor<1x2x1x4xf32>
    %r = opset1.Parameter() {name = "r"} : tensor<1x2x1x?xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x2x1x4xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<1x2x1x4xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %zeros = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset13.ScaledDotProductAttention(%q, %k, %v, %zero, %one) {causal = false} : tensor<1x2x1x4xf32>
    %2 = opset13.ScaledDotProductAttention(%r, %k, %v, %zero, %half) {causal = false} : tensor<1x2x1x4xf32>
    %3 = opset13.ScaledDotProductAttention(%q, %k, %v, %zeros) {causal = false} : tensor<1x2x1x4xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}

// -----

// Sinks after the scale.
// CHECK-LABEL: moir.model @sinks
// CHECK:           ScaledDotProductAttention(%q, %k, %v, %zero, %half, %sinks)
builtin.module {
  moir.model @sinks {
    %q = opset1.Parameter() {name = "q"} : tensor<?x2x?x4xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x2x?x4xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<?x2x?x4xf32>
    %sinks = opset1.Parameter() {name = "s"} : tensor<1x2x1x1xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset13.ScaledDotProductAttention(%q, %k, %v, %zero, %half, %sinks) {causal = false} : tensor<?x2x?x4xf32>
    opset1.Result(%1) {name = "y"}
  }
}
