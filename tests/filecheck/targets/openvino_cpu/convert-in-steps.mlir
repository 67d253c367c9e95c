// RUN: moir-opt %s -p convert-in-steps --verify-each --split-input-file | filecheck %s

// Floats of unknown sizes wrap around by way of 32 bits; what is clamped, and what has known sizes, does so at once.
// CHECK-LABEL: moir.model @bytes
// CHECK:           %[[W:.*]] = opset1.Convert(%x) {destination_type = si32
// CHECK:           opset1.Convert(%[[W]]) {destination_type = ui8
// CHECK:           %[[C:.*]] = opset1.Clamp(%x)
// CHECK:           opset1.Convert(%[[C]]) {destination_type = ui8
// CHECK:           opset1.Convert(%y) {destination_type = si8
// CHECK:           %[[D:.*]] = opset1.Convert(%z) {destination_type = si32
// CHECK:           opset1.Convert(%[[D]]) {destination_type = si8
builtin.module {
  moir.model @bytes {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<4xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<4xf64>
    %1 = opset1.Convert(%x) {destination_type = ui8, name = "a"} : tensor<?xui8>
    %2 = opset1.Clamp(%x) {min = 0.0 : f64, max = 255.0 : f64} : tensor<?xf32>
    %3 = opset1.Convert(%2) {destination_type = ui8, name = "b"} : tensor<?xui8>
    %4 = opset1.Convert(%y) {destination_type = si8, name = "c"} : tensor<4xsi8>
    %5 = opset1.Convert(%z) {destination_type = si8, name = "d"} : tensor<4xsi8>
    opset1.Result(%1) {name = "p"}
    opset1.Result(%3) {name = "q"}
    opset1.Result(%4) {name = "r"}
    opset1.Result(%5) {name = "s"}
  }
}

// -----

// Floats of 8 bits become f32 first, and then integers by way of 32 bits.
// CHECK-LABEL: moir.model @narrow
// CHECK:           %[[F:.*]] = opset1.Convert(%x) {destination_type = f32
// CHECK:           %[[I:.*]] = opset1.Convert(%[[F]]) {destination_type = si32
// CHECK:           opset1.Convert(%[[I]]) {destination_type = ui8
builtin.module {
  moir.model @narrow {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf8E5M2>
    %1 = opset1.Convert(%x) {destination_type = ui8, name = "a"} : tensor<?xui8>
    opset1.Result(%1) {name = "p"}
  }
}
