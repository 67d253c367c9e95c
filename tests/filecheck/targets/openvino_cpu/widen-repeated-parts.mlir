// RUN: moir-opt %s -p widen-repeated-parts --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @repeated
// CHECK:           %[[JOINED:[0-9]+]] = opset1.Concat({{.*}}) {axis = 2} : tensor<1x1x4x2xsi32>
// CHECK:           opset1.Convert(%[[JOINED]]) {destination_type = si16, name = "c"} : tensor<1x1x4x2xsi16>
builtin.module {
  moir.model @repeated {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x2x2xsi16>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %a, %b = opset1.Split(%x, %axis) {num_splits = 2} : tensor<1x1x1x2xsi16>, tensor<1x1x1x2xsi16>
    %1 = opset1.Concat(%a, %a, %b, %b) {axis = 2, name = "c"} : tensor<1x1x4x2xsi16>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Interpolate has f32.
// CHECK-LABEL: moir.model @floats
// CHECK:           opset1.Concat(%a, %a, %b, %b) {axis = 2} : tensor<1x1x4x2xf32>
builtin.module {
  moir.model @floats {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x2x2xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %a, %b = opset1.Split(%x, %axis) {num_splits = 2} : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>
    %1 = opset1.Concat(%a, %a, %b, %b) {axis = 2} : tensor<1x1x4x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Nothing is repeated.
// CHECK-LABEL: moir.model @swapped
// CHECK:           opset1.Concat(%b, %a) {axis = 2} : tensor<1x1x2x2xsi16>
builtin.module {
  moir.model @swapped {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x2x2xsi16>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %a, %b = opset1.Split(%x, %axis) {num_splits = 2} : tensor<1x1x1x2xsi16>, tensor<1x1x1x2xsi16>
    %1 = opset1.Concat(%b, %a) {axis = 2} : tensor<1x1x2x2xsi16>
    opset1.Result(%1) {name = "y"}
  }
}
