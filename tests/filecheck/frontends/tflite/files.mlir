// RUN: moir-opt %S/../../../fixtures/tflite/quantized.tflite | filecheck %s --check-prefix=QUANTIZED
// RUN: moir-opt %S/../../../fixtures/tflite/loops.tflite | filecheck %s --check-prefix=LOOPS
// RUN: moir-opt %S/../../../fixtures/tflite/state.tflite | filecheck %s --check-prefix=STATE

// Names are those of the signature, and the tensors'.
// QUANTIZED: opset1.Parameter() {name = "x", tensor_names = ["x,{{.*}}"]} : tensor<1x6x5x3xf32>
// QUANTIZED: tflite.QUANTIZE
// QUANTIZED: tflite.fake_quantize({{.*}}) {element = si8, scale = {{[0-9.]+}}, zero_point = {{[-0-9]+}}
// QUANTIZED: tflite.dequantize({{.*}}axis = 0
// QUANTIZED: tflite.CONV_2D({{.*}}padding = "SAME"
// The largest of rounded numbers is one of them.
// QUANTIZED: [[POOL:%[0-9]+]] = tflite.MAX_POOL_2D
// QUANTIZED-NEXT: opset1.Constant
// QUANTIZED-NEXT: tflite.RESHAPE([[POOL]]

// LOOPS: tflite.WHILE({{.*}}graph_attributes = ["cond", "body"]
// LOOPS: tflite.LESS
// LOOPS: }, {
// LOOPS: tflite.ADD
// LOOPS: tflite.IF

// A variable that is written is a state, one that is only read a constant.
// STATE: notes = ["the model has a state, which an infer request keeps until reset_state(): {{.*}}"]
// STATE: tflite.MUL
// STATE: opset6.ReadValue
// STATE: tflite.ADD
// STATE: opset6.Assign
