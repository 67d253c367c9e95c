// One convolution from the file to the IR: what each step does to it. The steps are explained in docs/layout-change.md.

// RUN: moir-opt %S/../../fixtures/tensorflow/convolution.pbtxt -p raise-while-frames | filecheck %s --check-prefix IMPORT
// IMPORT:      tf.Conv2D(%0, %1) {T = f32, padding = "SAME", strides = [1, 2, 2, 1], name = "conv", tensor_names = ["conv,conv:0"]}
// IMPORT-NEXT: tf.BiasAdd
// IMPORT-NEXT: tf.Relu

// RUN: moir-opt %S/../../fixtures/tensorflow/convolution.pbtxt -p lower-tf | filecheck %s --check-prefix LOWER
// LOWER:      opset1.Transpose(%0, %{{.*}}) : tensor<?x2x4x5xf32>
// LOWER:      opset1.Transpose(%1, %{{.*}}) : tensor<3x2x1x1xf32>
// LOWER-NEXT: opset1.Convolution
// LOWER:      opset1.Transpose({{.*}}) {name = "conv", tensor_names = ["conv,conv:0"]} : tensor<?x2x3x3xf32>
// LOWER-NEXT: opset1.Add
// LOWER-NEXT: opset1.Relu

// RUN: moir-opt %S/../../fixtures/tensorflow/convolution.pbtxt -p lower-tf,fold-constants,eliminate-dead,choose-layouts | filecheck %s --check-prefix LAYOUT
// LAYOUT:      opset1.Transpose(%0, %{{.*}}) : tensor<?x2x4x5xf32>
// LAYOUT:      opset1.Constant() {{.*}} : tensor<3x2x1x1xf32>
// LAYOUT-NEXT: opset1.Convolution({{.*}}name = "conv"{{.*}} : tensor<?x3x2x3xf32>
// LAYOUT:      opset1.Constant() {{.*}} : tensor<1x3x1x1xf32>
// LAYOUT-NEXT: opset1.Add({{.*}}name = "biased"
// LAYOUT-NEXT: opset1.Relu
// LAYOUT:      opset1.Transpose({{.*}}tensor_names = ["y,y:0"]
// LAYOUT-NEXT: opset1.Result

// RUN: moir-opt %S/../../fixtures/tensorflow/convolution.pbtxt -p "default{layout-change=none}" | filecheck %s --check-prefix NONE
// NONE:      opset1.Convolution
// NONE:      opset1.Transpose
// NONE-NEXT: opset1.Add
