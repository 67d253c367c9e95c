// RUN: moir-opt %s -p lower-transformers,fold-constants,eliminate-dead | filecheck %s

// The paged backend of GenAI replaces these operations by its own: the last K tokens and the new ones, a convolution
// without padding, the new tokens; and it drops the product with the mask.
// CHECK:         %[[NEW:.*]] = opset8.Slice(%mask, %{{.*}}) : tensor<?x?xsi64>
// CHECK:         %[[WIDE:.*]] = opset1.Unsqueeze(%[[NEW]], %{{.*}}) : tensor<?x?x1xsi64>
// CHECK-NEXT:    %[[FACTOR:.*]] = opset1.Convert(%[[WIDE]])
// CHECK-NEXT:    %[[MASKED:.*]] = opset1.Multiply(%x, %[[FACTOR]])
// CHECK:         %[[PAST:.*]] = opset6.ReadValue(%{{.*}}) {{.*}}variable_shape = "?,4,3"
// CHECK:         %[[ROWS:.*]] = opset8.Gather(%[[PAST]], %beams, %{{.*}}){{.*}} : tensor<?x4x3xf32>
// CHECK:         %[[COLUMNS:.*]] = opset1.Transpose(%[[MASKED]], %{{.*}}) : tensor<?x4x?xf32>
// CHECK-NEXT:    %[[JOINED:.*]] = opset1.Concat(%[[ROWS]], %[[COLUMNS]]) {axis = -1}
// CHECK:         opset6.Assign(%{{.*}}) {{.*}}
// CHECK:         %[[BOTH:.*]] = opset1.GroupConvolution(%[[JOINED]], %{{.*}}) {{.*}}pads_begin = [0], pads_end = [0]
// CHECK:         opset8.Slice(%[[BOTH]], %{{.*}}) : tensor<?x4x?xf32>
builtin.module {
  moir.model @convolution {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %mask = opset1.Parameter() {name = "m"} : tensor<?x?xsi64>
    %tokens = opset1.Parameter() {name = "t"} : tensor<?x?xsi64>
    %beams = opset1.Parameter() {name = "b"} : tensor<?xsi32>
    %w = opset1.Constant() {value = #moir.data<tensor<4x3xf32>, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0]>} : tensor<4x3xf32>
    %none = moir.none
    %1 = transformers.MaskPadding(%x, %mask, %tokens) {name = "p"} : tensor<?x?x4xf32>
    %2 = transformers.CausalConvolution(%1, %w, %none, %beams) {layer = 0, name = "c"} : tensor<?x?x4xf32>
    opset1.Result(%2) {name = "y"}
  }
}
