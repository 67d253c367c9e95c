// RUN: moir-opt %s -p 'lower-mo{framework=tf}' | filecheck %s

// In a channel-last model with a convolution an operation of an extension gets data of rank 4 with its channels first, and the attributes
// that it lists as axes follow. Data of rank 2 stays, as does that of an operation whose class keeps the layout of the framework, and that
// of one that reinterprets the shape.
builtin.module {
  moir.model @made {
    %x = opset1.Parameter() {name = "x"} : tensor<1x8x6x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<3x3xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<4x3x1x1xf32>
    %b = mo.Blur(%x, %w) {name = "blur", node_attributes = #moir.python<"{'op': 'Blur', 'type': 'Blur', 'axis': 3, 'dim_attrs': ['axis'], 'IE': [('layer', [], [('data', ['axis'], [])])]}">} : tensor<1x8x6x3xf32>
    %f = mo.Blur(%x, %w) {name = "kept", node_attributes = #moir.python<"{'op': 'Blur', 'type': 'Blur', '$data_layout': 'framework'}">} : tensor<1x8x6x3xf32>
    %r = mo.Blur(%x, %w) {name = "reinterpreted", node_attributes = #moir.python<"{'op': 'Blur', 'type': 'Blur', 'reinterp_shape': True}">} : tensor<1x8x6x3xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<1x3x8x6xf32>
    %c = opset1.Convolution(%i, %k) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x4x8x6xf32>
    opset1.Result(%b)
    opset1.Result(%f)
    opset1.Result(%r)
    opset1.Result(%c)
  }
}
// CHECK:      moir.model @made attributes {changes_layout = true} {
// CHECK:        [[FIRST:%.*]] = opset1.Transpose(%x, {{.*}}) : tensor<1x3x8x6xf32>
// CHECK-NEXT:   [[BLUR:%.*]] = extension.Blur([[FIRST]], %w) {axis = "1", {{.*}}name = "blur"} : tensor<1x3x8x6xf32>
// CHECK:        %b = opset1.Transpose([[BLUR]], %{{.*}}) {name = "blur/as_given"} : tensor<1x8x6x3xf32>
// CHECK-NEXT:   %f = extension.Blur(%x, %w) {{.*}} : tensor<1x8x6x3xf32>
// CHECK-NEXT:   %r = extension.Blur(%x, %w) {{.*}} : tensor<1x8x6x3xf32>
// CHECK:        opset1.Result(%b)
