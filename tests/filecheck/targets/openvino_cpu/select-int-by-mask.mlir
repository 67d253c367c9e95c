// RUN: moir-opt %s -p select-int-by-mask --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @words
// CHECK:           %[[C:.*]] = opset1.Less(%x, %y)
// CHECK:           %[[I:.*]] = opset1.Convert(%[[C]]) {destination_type = si32}
// CHECK:           %[[M:.*]] = opset1.Subtract(%{{.*}}, %[[I]])
// CHECK:           %[[D:.*]] = opset13.BitwiseXor(%[[W:.*]], %y)
// CHECK:           %[[K:.*]] = opset13.BitwiseAnd(%[[D]], %[[M]])
// CHECK:           opset13.BitwiseXor(%y, %[[K]]) {name = "s"}
builtin.module {
  moir.model @words {
    %x = opset1.Parameter() {name = "x"} : tensor<?xsi32>
    %y = opset1.Parameter() {name = "y"} : tensor<?xsi32>
    %0 = opset13.BitwiseAnd(%x, %y) : tensor<?xsi32>
    %1 = opset1.Add(%0, %y) : tensor<?xsi32>
    %2 = opset1.Less(%x, %y) : tensor<?xi1>
    %3 = opset1.Select(%2, %1, %y) {name = "s"} : tensor<?xsi32>
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// Places, and what a comparison of floats says.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Xor
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?xsi32>
    %f = opset1.Parameter() {name = "f"} : tensor<?xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<si32>, [16777216]>} : tensor<si32>
    %z = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %0 = opset1.Less(%x, %c) : tensor<?xi1>
    %1 = opset1.Add(%x, %c) : tensor<?xsi32>
    %2 = opset1.Select(%0, %1, %x) : tensor<?xsi32>
    %3 = opset1.Less(%f, %z) : tensor<?xi1>
    %4 = opset13.BitwiseNot(%x) : tensor<?xsi32>
    %5 = opset1.Select(%3, %4, %x) : tensor<?xsi32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%5) {name = "w"}
  }
}
