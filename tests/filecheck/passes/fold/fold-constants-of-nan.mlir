// RUN: moir-opt %s -p "fold-constants,eliminate-dead" | filecheck %s

// Places of NaN that the operation does not define are left to the runtime.
// CHECK-LABEL: moir.model @places
// CHECK:         %[[A:.*]] = opset15.SearchSorted
// CHECK-NEXT:    %[[B:.*]] = opset3.Bucketize
// CHECK-NEXT:    %[[C:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [3, 2]>
// CHECK-NEXT:    opset1.Result(%[[A]])
// CHECK-NEXT:    opset1.Result(%[[B]])
// CHECK-NEXT:    opset1.Result(%[[C]])
moir.model @places {
  %r = opset1.Constant() {value = #moir.data<tensor<3xf32>, [0.0, 1.0, 2.0]>} : tensor<3xf32>
  %x = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0x7FC00000, 1.0]>} : tensor<2xf32>
  %a = opset15.SearchSorted(%r, %x) {right_mode = false, output_type = si32} : tensor<2xsi32>
  %b = opset3.Bucketize(%x, %r) {output_type = si32, with_right_bound = true} : tensor<2xsi32>
  %c = opset3.Bucketize(%x, %r) {output_type = si32, with_right_bound = false} : tensor<2xsi32>
  opset1.Result(%a) {name = "a"}
  opset1.Result(%b) {name = "b"}
  opset1.Result(%c) {name = "c"}
}
