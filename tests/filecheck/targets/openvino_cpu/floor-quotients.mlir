// RUN: moir-opt %s -p floor-quotients,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @integers
// CHECK:           %[[R:.*]] = opset1.FloorMod(%a, %b)
// CHECK:           %[[W:.*]] = opset1.Subtract(%a, %[[R]])
// CHECK:           %[[Q:.*]] = opset1.Divide(%[[W]], %b) {m_pythondiv = false}
// CHECK:           opset1.Result(%[[Q]])
builtin.module {
  moir.model @integers {
    %a = opset1.Parameter() {name = "a"} : tensor<?xsi64>
    %b = opset1.Parameter() {name = "b"} : tensor<?xsi64>
    %1 = opset1.Divide(%a, %b) {m_pythondiv = true} : tensor<?xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// The difference of integers of 8 bits may not fit into 8 bits.

// CHECK-LABEL: moir.model @narrow
// CHECK:           %[[A:.*]] = opset1.Convert(%a) {destination_type = si32}
// CHECK:           %[[B:.*]] = opset1.Convert(%b) {destination_type = si32}
// CHECK:           %[[R:.*]] = opset1.FloorMod(%[[A]], %[[B]])
// CHECK:           %[[W:.*]] = opset1.Subtract(%[[A]], %[[R]])
// CHECK:           %[[Q:.*]] = opset1.Divide(%[[W]], %[[B]]) {m_pythondiv = false}
// CHECK:           opset1.Convert(%[[Q]]) {destination_type = si8}
builtin.module {
  moir.model @narrow {
    %a = opset1.Parameter() {name = "a"} : tensor<?xsi8>
    %b = opset1.Parameter() {name = "b"} : tensor<?xsi8>
    %1 = opset1.Divide(%a, %b) {m_pythondiv = true} : tensor<?xsi8>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Declines: sizes are not negative.

// CHECK-LABEL: moir.model @sizes
// CHECK:           opset1.Divide(%{{.*}}, %{{.*}}) : tensor<2xsi64>
// CHECK-NEXT:      opset1.Result
builtin.module {
  moir.model @sizes {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [16]>} : tensor<si64>
    %1 = opset1.Divide(%s, %n) {m_pythondiv = true} : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Declines: a quotient that is rounded towards zero, floats, and integers without a sign.

// CHECK-LABEL: moir.model @others
// CHECK-NOT:       opset1.FloorMod
builtin.module {
  moir.model @others {
    %a = opset1.Parameter() {name = "a"} : tensor<?xsi64>
    %b = opset1.Parameter() {name = "b"} : tensor<?xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<?xui32>
    %d = opset1.Parameter() {name = "d"} : tensor<?xsi64>
    %1 = opset1.Divide(%a, %d) {m_pythondiv = false} : tensor<?xsi64>
    %2 = opset1.Divide(%b, %b) {m_pythondiv = true} : tensor<?xf32>
    %3 = opset1.Divide(%c, %c) {m_pythondiv = true} : tensor<?xui32>
    opset1.Result(%1) {name = "x"}
    opset1.Result(%2) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}
