// RUN: moir-opt %s -p "cancel-conversions,eliminate-dead" --split-input-file | filecheck %s

// Rounded numbers within the range, their differences, and products of these with integers.
// CHECK-LABEL: moir.model @integers
// CHECK-NOT:       opset1.Convert({{.*}}destination_type = ui8
// CHECK-NOT:       opset1.Convert({{.*}}destination_type = si32
builtin.module {
  moir.model @integers {
    %x = opset1.Parameter() {name = "x"} : tensor<5x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, -2, 3, 4]>} : tensor<2x2xsi8>
    %0 = opset5.Round(%x) {mode = "half_to_even"} : tensor<5x2xf32>
    %1 = opset1.Clamp(%0) {min = 0.0, max = 255.0} : tensor<5x2xf32>
    %2 = opset1.Convert(%1) {destination_type = ui8} : tensor<5x2xui8>
    %3 = opset1.Convert(%2) {destination_type = f32} : tensor<5x2xf32>
    %4 = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %5 = opset1.MatMul(%3, %4) : tensor<5x2xf32>
    %6 = opset1.Convert(%5) {destination_type = si32} : tensor<5x2xsi32>
    %7 = opset1.Convert(%6) {destination_type = f32} : tensor<5x2xf32>
    opset1.Result(%7) {name = "y"}
  }
}

// -----

// Numbers with fractions, a range that the type does not have, and another type of floats.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-6:   opset1.Convert
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<5x2xf32>
    %1 = opset1.Clamp(%x) {min = 0.0, max = 255.0} : tensor<5x2xf32>
    %2 = opset1.Convert(%1) {destination_type = ui8} : tensor<5x2xui8>
    %3 = opset1.Convert(%2) {destination_type = f32} : tensor<5x2xf32>
    opset1.Result(%3) {name = "fractions"}
    %4 = opset5.Round(%x) {mode = "half_to_even"} : tensor<5x2xf32>
    %5 = opset1.Clamp(%4) {min = 0.0, max = 256.0} : tensor<5x2xf32>
    %6 = opset1.Convert(%5) {destination_type = ui8} : tensor<5x2xui8>
    %7 = opset1.Convert(%6) {destination_type = f32} : tensor<5x2xf32>
    opset1.Result(%7) {name = "range"}
    %8 = opset1.Clamp(%4) {min = 0.0, max = 4.0} : tensor<5x2xf32>
    %9 = opset1.Convert(%8) {destination_type = ui8} : tensor<5x2xui8>
    %10 = opset1.Convert(%9) {destination_type = f64} : tensor<5x2xf64>
    opset1.Result(%10) {name = "type"}
  }
}

// -----

// CHECK-LABEL: @truth
// CHECK-NOT: opset1.Convert
moir.model @truth {
  %m = opset1.Parameter() {name = "m"} : tensor<2x3xi1>
  %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %false = opset1.Constant() {value = #moir.data<tensor<i1>, [false]>} : tensor<i1>
  %n = opset1.Convert(%m) {destination_type = f32} : tensor<2x3xf32>
  %a = opset1.NotEqual(%n, %zero) : tensor<2x3xi1>
  // CHECK: opset1.LogicalNot(%m) {name = "b"}
  %b = opset1.Equal(%zero, %n) {name = "b"} : tensor<2x3xi1>
  // CHECK: opset1.LogicalNot(%m) {name = "c"}
  %c = opset1.Greater(%one, %n) {name = "c"} : tensor<2x3xi1>
  %d = opset1.NotEqual(%m, %false) : tensor<2x3xi1>
  // CHECK: opset1.Result(%m) {name = "a"}
  opset1.Result(%a) {name = "a"}
  opset1.Result(%b) {name = "b"}
  opset1.Result(%c) {name = "c"}
  // CHECK: opset1.Result(%m) {name = "d"}
  opset1.Result(%d) {name = "d"}
}

// -----

// The comparison has one result whatever the truth values are, or more dimensions than they have.
// CHECK-LABEL: @truth_otherwise
// CHECK: opset1.Less
// CHECK: opset1.NotEqual
moir.model @truth_otherwise {
  %m = opset1.Parameter() {name = "m"} : tensor<2x3xi1>
  %s = opset1.Parameter() {name = "s"} : tensor<i1>
  %two = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
  %zero = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.0]>} : tensor<1xf32>
  %n = opset1.Convert(%m) {destination_type = f32} : tensor<2x3xf32>
  %t = opset1.Convert(%s) {destination_type = f32} : tensor<f32>
  %a = opset1.Less(%n, %two) {name = "a"} : tensor<2x3xi1>
  %b = opset1.NotEqual(%t, %zero) {name = "b"} : tensor<1xi1>
  opset1.Result(%a) {name = "a"}
  opset1.Result(%b) {name = "b"}
}
