// RUN: moir-opt %s -p compare-with-zero --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @integers
// CHECK:           %[[D:.*]] = opset1.Subtract(%x, %y) : tensor<?x3xsi64>
// CHECK:           opset1.Equal(%[[D]], %{{.*}}) {name = "e"} : tensor<?x3xi1>
// CHECK:           %[[L:.*]] = opset1.Subtract(%x, %{{.*}}) : tensor<?x3xsi64>
// CHECK:           opset1.NotEqual(%[[L]], %{{.*}}) {name = "n"} : tensor<?x3xi1>
builtin.module {
  moir.model @integers {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xsi64>
    %y = opset1.Parameter() {name = "y"} : tensor<3xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [16777217]>} : tensor<si64>
    %1 = opset1.Equal(%x, %y) {name = "e"} : tensor<?x3xi1>
    %2 = opset1.NotEqual(%x, %c) {name = "n"} : tensor<?x3xi1>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}

// -----

// Constants that f32 has, integers of 8 bits and floats.
// CHECK-LABEL: moir.model @exact
// CHECK-NOT:       opset1.Subtract
builtin.module {
  moir.model @exact {
    %x = opset1.Parameter() {name = "x"} : tensor<3xsi32>
    %b = opset1.Parameter() {name = "b"} : tensor<3xsi8>
    %f = opset1.Parameter() {name = "f"} : tensor<3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<si32>, [-16777216]>} : tensor<si32>
    %1 = opset1.Equal(%x, %c) : tensor<3xi1>
    %2 = opset1.Equal(%b, %b) : tensor<3xi1>
    %3 = opset1.Equal(%f, %f) : tensor<3xi1>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}

// -----

// Places and numbers of elements.
// CHECK-LABEL: moir.model @places
// CHECK-NOT:       opset1.Subtract
builtin.module {
  moir.model @places {
    %x = opset1.Parameter() {name = "x"} : tensor<?xi1>
    %0 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %1 = opset1.Convert(%x) {destination_type = si64} : tensor<?xsi64>
    %2 = opset3.CumSum(%1, %0) : tensor<?xsi64>
    %3 = opset3.ShapeOf(%x) : tensor<1xsi64>
    %4 = opset1.Add(%3, %0) : tensor<1xsi64>
    %5 = opset1.Equal(%2, %4) : tensor<?xi1>
    opset1.Result(%5) {name = "a"}
  }
}

// -----

// The smallest integer has no absolute value.
// CHECK-LABEL: moir.model @truth
// CHECK:           opset1.NotEqual(%x, %{{.*}}) {name = "t"} : tensor<3xi1>
// CHECK:           opset1.Convert(%b)
builtin.module {
  moir.model @truth {
    %x = opset1.Parameter() {name = "x"} : tensor<3xsi32>
    %b = opset1.Parameter() {name = "b"} : tensor<3xsi8>
    %1 = opset1.Convert(%x) {destination_type = i1, name = "t"} : tensor<3xi1>
    %2 = opset1.Convert(%b) {destination_type = i1} : tensor<3xi1>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "c"}
  }
}
