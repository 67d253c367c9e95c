// RUN: moir-opt %s -p "lower-tf,check-lowered" --split-input-file | filecheck %s

// Kinds that TensorFlow itself has removed but old graphs still have.

// The shape of an operand says the size of a transposed convolution.
// CHECK-LABEL: moir.model @like
// CHECK:         opset1.ConvolutionBackpropData(%{{.*}}, %{{.*}}) {output_padding = [0, 0, 0], strides = [2, 2, 2], dilations = [1, 1, 1], pads_begin = [0, 0, 0], pads_end = [1, 1, 1]} : tensor<1x3x4x6x8xf32>
// CHECK:         opset1.Transpose{{.*}} : tensor<1x4x6x8x3xf32>
builtin.module {
  moir.model @like {
    %like = opset1.Parameter() {name = "like"} : tensor<1x4x6x8x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<3x3x3x3x5xf32>
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x4x5xf32>
    %y = tf.Conv3DBackpropInput(%like, %w, %x) {strides = [1, 2, 2, 2, 1], padding = "SAME", name = "y"} : tensor<*x!moir.dynamic>
    opset1.Result(%y) {name = "result"}
  }
}

// -----

// The scale only counts if the node says so; the offset always does.
// CHECK-LABEL: moir.model @normalization
// CHECK:         %[[ONE:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>}
// CHECK:         opset1.Divide(%[[ONE]], %{{.*}})
// CHECK:         opset1.Multiply(%x, %{{.*}}) : tensor<?x4x4x2xf32>
// CHECK:         opset1.Add(%{{.*}}) {name = "y"} : tensor<?x4x4x2xf32>
builtin.module {
  moir.model @normalization {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x4x2xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<2xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<2xf32>
    %beta = opset1.Parameter() {name = "beta"} : tensor<2xf32>
    %gamma = opset1.Parameter() {name = "gamma"} : tensor<2xf32>
    %y = tf.BatchNormWithGlobalNormalization(%x, %m, %v, %beta, %gamma) {variance_epsilon = 0.01, scale_after_normalization = false, name = "y"} : tensor<*x!moir.dynamic>
    opset1.Result(%y) {name = "result"}
  }
}

// -----

// The result is f32 whatever the image is.
// CHECK-LABEL: moir.model @contrast
// CHECK:         opset1.Convert(%x)
// CHECK:         opset1.ReduceMean{{.*}}
// CHECK:         opset1.Maximum
// CHECK:         opset1.Minimum{{.*}} {name = "y"} : tensor<4x4x3xf32>
builtin.module {
  moir.model @contrast {
    %x = opset1.Parameter() {name = "x"} : tensor<4x4x3xui8>
    %f = opset1.Parameter() {name = "f"} : tensor<f32>
    %y = tf.AdjustContrast(%x, %f, %f, %f) {name = "y"} : tensor<*x!moir.dynamic>
    opset1.Result(%y) {name = "result"}
  }
}
