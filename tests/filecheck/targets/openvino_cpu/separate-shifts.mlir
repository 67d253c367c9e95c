// RUN: moir-opt %s -p separate-shifts --split-input-file | filecheck %s

// A part of a step is lost: 0.75, and -0.5 of two terms behind an activation; 1.25 is not, nor 0.75 with other limits.
// CHECK-LABEL: moir.model @steps
// CHECK:         %[[A:.*]] = opset1.Add(%0, %part)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[A]])
// CHECK-NEXT:    opset1.FakeQuantize(%[[M]], %low, %high, %low, %high)
// CHECK:         %[[B:.*]] = opset1.Relu
// CHECK:         %[[N:.*]] = opset1.Maximum(%{{.*}}, %[[B]])
// CHECK-NEXT:    opset1.FakeQuantize(%[[N]], %low, %high, %low, %high)
// CHECK:         %[[C:.*]] = opset1.Add(%0, %more)
// CHECK-NEXT:    opset1.FakeQuantize(%[[C]], %low, %high, %low, %high)
// CHECK:         opset1.FakeQuantize(%[[A]], %other, %{{.*}}, %other, %{{.*}})
builtin.module {
  moir.model @steps {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [255.0]>} : tensor<f32>
    %other = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %top = opset1.Constant() {value = #moir.data<tensor<f32>, [254.0]>} : tensor<f32>
    %part = opset1.Constant() {value = #moir.data<tensor<f32>, [0.75]>} : tensor<f32>
    %more = opset1.Constant() {value = #moir.data<tensor<f32>, [1.25]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %1 = opset1.Add(%0, %part) : tensor<2x3xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %3 = opset1.Subtract(%1, %more) : tensor<2x3xf32>
    %4 = opset1.Relu(%3) : tensor<2x3xf32>
    %5 = opset1.FakeQuantize(%4, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %6 = opset1.Add(%0, %more) : tensor<2x3xf32>
    %7 = opset1.FakeQuantize(%6, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %8 = opset1.FakeQuantize(%1, %other, %top, %other, %top) {levels = 256} : tensor<2x3xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%5) {name = "b"}
    opset1.Result(%7) {name = "c"}
    opset1.Result(%8) {name = "d"}
  }
}

// -----

// Integers of 8 bits by a factor are quantized values; those by another factor have another step.
// CHECK-LABEL: moir.model @bytes
// CHECK:         %[[A:.*]] = opset1.Add
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[A]])
// CHECK-NEXT:    opset1.FakeQuantize(%[[M]], %low, %high, %low, %high)
// CHECK:         %[[B:.*]] = opset1.Add
// CHECK-NEXT:    opset1.FakeQuantize(%[[B]], %low, %high, %low, %high)
builtin.module {
  moir.model @bytes {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xui8>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.5]>} : tensor<f32>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %third = opset1.Constant() {value = #moir.data<tensor<f32>, [0.3]>} : tensor<f32>
    %term = opset1.Constant() {value = #moir.data<tensor<1x3xf32>, [0.0, 0.4, 0.5]>} : tensor<1x3xf32>
    %0 = opset1.Convert(%x) {destination_type = f32} : tensor<2x3xf32>
    %1 = opset1.Multiply(%0, %half) : tensor<2x3xf32>
    %2 = opset1.Add(%1, %term) : tensor<2x3xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %4 = opset1.Multiply(%0, %third) : tensor<2x3xf32>
    %5 = opset1.Add(%4, %term) : tensor<2x3xf32>
    %6 = opset1.FakeQuantize(%5, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    opset1.Result(%3) {name = "a"}
    opset1.Result(%6) {name = "b"}
  }
}

// -----

// The limits themselves differ by a part of a step.
// CHECK-LABEL: moir.model @limits
// CHECK:         %[[F:.*]] = opset1.FakeQuantize(%x, %low, %high, %part, %top)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[F]])
// CHECK-NEXT:    opset1.FakeQuantize(%[[M]], %low, %high, %low, %high)
builtin.module {
  moir.model @limits {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [255.0]>} : tensor<f32>
    %part = opset1.Constant() {value = #moir.data<tensor<f32>, [0.75]>} : tensor<f32>
    %top = opset1.Constant() {value = #moir.data<tensor<f32>, [255.75]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %part, %top) {levels = 256} : tensor<2x3xf32>
    %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    opset1.Result(%1) {name = "y"}
  }
}
