// RUN: moir-opt %s -p compute-remainders,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @sizes
// CHECK:           %[[S:.*]] = opset3.ShapeOf(%x)
// CHECK:           %[[M:.*]] = opset1.Mod(%[[S]], %[[N:.*]])
// CHECK:           opset1.Result(%[[M]])
builtin.module {
  moir.model @sizes {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [16]>} : tensor<si64>
    %1 = opset1.FloorMod(%s, %n) : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// What may be negative has another remainder than FloorMod.

// CHECK-LABEL: moir.model @differences
// CHECK:           %[[D:.*]] = opset1.Subtract
// CHECK:           %[[M:.*]] = opset1.Mod(%[[D]], %[[N:.*]])
// CHECK:           %[[A:.*]] = opset1.Add(%[[M]], %[[N]])
// CHECK:           opset1.Mod(%[[A]], %[[N]])
builtin.module {
  moir.model @differences {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [16]>} : tensor<si64>
    %0 = opset1.Subtract(%n, %s) : tensor<2xsi64>
    %1 = opset1.FloorMod(%0, %n) : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Numbers that are no sizes have no bounds.

// CHECK-LABEL: moir.model @numbers
// CHECK:           opset1.FloorMod(%x, %{{.*}})
builtin.module {
  moir.model @numbers {
    %x = opset1.Parameter() {name = "x"} : tensor<2xsi64>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [16]>} : tensor<si64>
    %1 = opset1.FloorMod(%x, %n) : tensor<2xsi64>
    opset1.Result(%1) {name = "y"}
  }
}
