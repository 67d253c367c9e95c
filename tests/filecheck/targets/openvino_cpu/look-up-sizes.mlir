// RUN: moir-opt %s -p look-up-sizes,eliminate-dead --split-input-file | filecheck %s

// 3 · 0.1 / 0.1 is a little more than 3 in f64; the plugin computes in f32.

// CHECK-LABEL: moir.model @lengths
// CHECK:           %[[N:.*]] = opset8.Gather
// CHECK:           %[[LEAST:.*]] = opset1.Maximum(%[[N]], %{{.*}})
// CHECK:           %[[PLACE:.*]] = opset1.Minimum(%[[LEAST]], %{{.*}})
// CHECK:           %[[TABLE:.*]] = opset1.Constant() {{.*}}tensor<65536xsi32>
// CHECK:           %[[FOUND:.*]] = opset8.Gather(%[[TABLE]], %[[PLACE]], %{{.*}})
// CHECK:           %[[COUNT:.*]] = opset1.Convert(%[[FOUND]]) {destination_type = si64}
// CHECK:           %[[KNOWN:.*]] = opset1.Equal(%[[PLACE]], %[[N]])
// CHECK:           opset1.Select(%[[KNOWN]], %[[COUNT]], %{{.*}})
builtin.module {
  moir.model @lengths {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %s = opset3.ShapeOf(%x) : tensor<1xsi64>
    %0 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %n = opset8.Gather(%s, %0, %0) : tensor<si64>
    %1 = opset1.Convert(%n) {destination_type = f64} : tensor<f64>
    %tenth = opset1.Constant() {value = #moir.data<tensor<f64>, [0.1]>} : tensor<f64>
    %2 = opset1.Multiply(%1, %tenth) : tensor<f64>
    %3 = opset1.Divide(%2, %tenth) : tensor<f64>
    %4 = opset1.Ceiling(%3) : tensor<f64>
    %5 = opset1.Convert(%4) {destination_type = si64} : tensor<si64>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// Halves are exact in f32, too; a number of two sizes is not looked up.

// CHECK-LABEL: moir.model @halves
// CHECK-NOT:       65536
builtin.module {
  moir.model @halves {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %0 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %n = opset8.Gather(%s, %0, %0) : tensor<si64>
    %m = opset8.Gather(%s, %one, %0) : tensor<si64>
    %1 = opset1.Convert(%n) {destination_type = f64} : tensor<f64>
    %half = opset1.Constant() {value = #moir.data<tensor<f64>, [0.5]>} : tensor<f64>
    %2 = opset1.Multiply(%1, %half) : tensor<f64>
    %3 = opset1.Convert(%2) {destination_type = si64} : tensor<si64>
    opset1.Result(%3) {name = "half"}
    %4 = opset1.Convert(%m) {destination_type = f64} : tensor<f64>
    %5 = opset1.Divide(%1, %4) : tensor<f64>
    %6 = opset1.Convert(%5) {destination_type = si64} : tensor<si64>
    opset1.Result(%6) {name = "quotient"}
  }
}
