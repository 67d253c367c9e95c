// RUN: moir-opt %s -p "compute-sizes-1d,eliminate-dead" --split-input-file | filecheck %s

// Numbers that only lists are made of.
// CHECK-LABEL: moir.model @list
// CHECK:           %[[S:.*]] = opset3.ShapeOf(%x)
// CHECK:           %[[N:.*]] = opset8.Gather(%[[S]], %{{.*}}, %{{.*}}) : tensor<1xsi64>
// CHECK:           %[[R:.*]] = opset1.FloorMod(%[[N]], %{{.*}}) : tensor<1xsi64>
// CHECK:           %[[D:.*]] = opset1.Subtract(%{{.*}}, %[[R]]) {{.*}}: tensor<1xsi64>
// CHECK-NOT:       opset1.Unsqueeze
// CHECK:           opset1.Concat(%[[D]], %{{.*}}, %[[D]])
builtin.module {
  moir.model @list {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %7 = opset1.Constant() {value = #moir.data<tensor<si64>, [7]>} : tensor<si64>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %n = opset8.Gather(%s, %0, %0) : tensor<si64>
    %r = opset1.FloorMod(%n, %7) : tensor<si64>
    %d = opset1.Subtract(%7, %r) : tensor<si64>
    %u = opset1.Unsqueeze(%d, %a) : tensor<1xsi64>
    %l = opset1.Concat(%u, %a, %u) {axis = 0} : tensor<3xsi64>
    opset1.Result(%l) {name = "y"}
  }
}

// -----

// A number that something else needs stays one.
// CHECK-LABEL: moir.model @number
// CHECK:           %[[D:.*]] = opset1.Add(%{{.*}}, %{{.*}}) : tensor<si64>
// CHECK:           opset1.Unsqueeze(%[[D]]
// CHECK:           opset4.Range(%{{.*}}, %[[D]]
builtin.module {
  moir.model @number {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %n = opset8.Gather(%s, %0, %0) : tensor<si64>
    %d = opset1.Add(%n, %1) : tensor<si64>
    %u = opset1.Unsqueeze(%d, %a) : tensor<1xsi64>
    %r = opset4.Range(%0, %d, %1) {output_type = si64} : tensor<?xsi64>
    opset1.Result(%u) {name = "y"}
    opset1.Result(%r) {name = "z"}
  }
}

// -----

// A list of two numbers that are needed as numbers, too, would be two operations more.
// CHECK-LABEL: moir.model @sum
// CHECK:           %[[D:.*]] = opset1.Add(%{{.*}}, %{{.*}}) : tensor<si64>
// CHECK:           opset1.Unsqueeze(%[[D]]
builtin.module {
  moir.model @sum {
    %a = opset1.Parameter() {name = "a"} : tensor<si64>
    %b = opset1.Parameter() {name = "b"} : tensor<si64>
    %0 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %d = opset1.Add(%a, %b) : tensor<si64>
    %u = opset1.Unsqueeze(%d, %0) : tensor<1xsi64>
    opset1.Result(%u) {name = "y"}
  }
}

// -----

// Entries that are joined are gathered at once, unless something else needs one of them.
// CHECK-LABEL: moir.model @joined
// CHECK:           %[[S:.*]] = opset3.ShapeOf(%x)
// CHECK-COUNT-1:   opset8.Gather(%[[S]]
// CHECK:           %[[B:.*]] = opset1.Concat(%{{.*}}, %{{.*}}) {axis = 0
// CHECK:           opset1.Result(%[[B]])
builtin.module {
  moir.model @joined {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %s = opset3.ShapeOf(%x) : tensor<3xsi64>
    %a = opset8.Gather(%s, %1, %0) : tensor<1xsi64>
    %b = opset8.Gather(%s, %2, %0) : tensor<1xsi64>
    %l = opset1.Concat(%a, %b, %2) {axis = 0} : tensor<3xsi64>
    opset1.Result(%l) {name = "y"}
  }
}
