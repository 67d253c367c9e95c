// RUN: moir-opt %s | moir-opt | filecheck %s

builtin.module {
  moir.model @slices {
    %x = opset1.Parameter() : tensor<6xf32>
    %y = opset1.TensorIterator(%x) {inputs = [#moir.port<0 axis 0 from -1 to 0 stride -2 part 2>], outputs = [#moir.port<0 axis 0 from 0 to -1 stride 2 part 2>]} ({
      %p = opset1.Parameter() : tensor<2xf32>
      opset1.Result(%p)
    }) : tensor<6xf32>
    opset1.Result(%y)
  }
}

// CHECK: opset1.TensorIterator(%x) {inputs = [#moir.port<0 axis 0 from -1 to 0 stride -2 part 2>], outputs = [#moir.port<0 axis 0 from 0 to -1 stride 2 part 2>]} ({
