// RUN: moir-opt %s -p separate-reductions,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @last
// CHECK:           %[[R:.*]] = opset1.ReduceMean(%x, %{{.*}}) {keep_dims = true
// CHECK:           %[[S:.*]] = opset15.Squeeze(%[[R]], %{{.*}}) {{.*}} : tensor<?x16xf32>
// CHECK:           %[[T:.*]] = opset1.Tanh(%[[S]])
// CHECK:           opset1.Add(%[[T]], %c)
builtin.module {
  moir.model @last {
    %x = opset1.Parameter() {name = "x"} : tensor<?x16x7xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<1x16xf32>, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]>} : tensor<1x16xf32>
    %1 = opset1.ReduceMean(%x, %axes) {keep_dims = false, name = "r"} : tensor<?x16xf32>
    %2 = opset1.Tanh(%1) : tensor<?x16xf32>
    %3 = opset1.Add(%2, %c) : tensor<?x16xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @kept
// CHECK:           %[[U:.*]] = opset1.Unsqueeze(%x, %{{.*}}) : tensor<1x?x2x7xf32>
// CHECK:           %[[R:.*]] = opset1.ReduceMax(%[[U]], %{{.*}}) {keep_dims = true{{.*}}} : tensor<1x?x2x1xf32>
// CHECK:           %[[S:.*]] = opset15.Squeeze(%[[R]], %{{.*}}) {{.*}}: tensor<?x2x1xf32>
// CHECK:           opset1.Multiply(%c, %[[S]])
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x7xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = true, name = "r"} : tensor<?x2x1xf32>
    %2 = opset1.Multiply(%c, %1) : tensor<?x2x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A constant makes a size known.
// CHECK-LABEL: moir.model @known_by_constant
// CHECK:           %[[R:.*]] = opset1.ReduceMax(%{{.*}}, %{{.*}}) {keep_dims = true{{.*}}} : tensor<1x?x?x1xf32>
// CHECK:           %[[S:.*]] = opset15.Squeeze(%[[R]], %{{.*}}) {{.*}}: tensor<?x?x1xf32>
// CHECK:           opset1.Divide(%[[S]], %c)
builtin.module {
  moir.model @known_by_constant {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = true, name = "r"} : tensor<?x?x1xf32>
    %2 = opset1.Divide(%1, %c) : tensor<?x2x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A single constant, another axis and further users are read correctly.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Squeeze
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x2xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %middle = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %c = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %1 = opset1.ReduceSum(%x, %last) {keep_dims = false} : tensor<?x2xf32>
    %2 = opset1.Multiply(%1, %one) : tensor<?x2xf32>
    %3 = opset1.ReduceSum(%x, %middle) {keep_dims = false} : tensor<?x2xf32>
    %4 = opset1.Multiply(%3, %c) : tensor<?x2xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}

// -----

// A constant that is divided by integers is divided wrongly, of any rank; integers divided by a constant are not.
// CHECK-LABEL: moir.model @divided
// CHECK:           %[[R:.*]] = opset1.ReduceProd(%x, %{{.*}}) {keep_dims = true
// CHECK:           %[[S:.*]] = opset15.Squeeze(%[[R]], %{{.*}}) {{.*}} : tensor<si64>
// CHECK:           opset1.Divide(%c, %[[S]])
// CHECK-NOT:       Squeeze
builtin.module {
  moir.model @divided {
    %x = opset1.Parameter() {name = "x"} : tensor<4xsi64>
    %y = opset1.Parameter() {name = "y"} : tensor<4xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<si64>, [7]>} : tensor<si64>
    %1 = opset1.ReduceProd(%x, %axes) {keep_dims = false, name = "r"} : tensor<si64>
    %2 = opset1.Divide(%c, %1) : tensor<si64>
    %3 = opset1.ReduceProd(%y, %axes) {keep_dims = false, name = "s"} : tensor<si64>
    %4 = opset1.Divide(%3, %c) : tensor<si64>
    opset1.Result(%2) {name = "z"}
    opset1.Result(%4) {name = "w"}
  }
}

// -----

// CHECK-LABEL: moir.model @subtrahend
// CHECK:           %[[T:.*]] = opset1.Convert(%x) {destination_type = f32
// CHECK:           %[[R:.*]] = opset1.ReduceMax(%[[T]], %{{.*}}) {keep_dims = true{{.*}}} : tensor<3x1x7xf32>
// CHECK:           %[[B:.*]] = opset1.Convert(%[[R]]) {destination_type = si32
// CHECK:           opset1.Subtract(%x, %[[B]])
builtin.module {
  moir.model @subtrahend {
    %x = opset1.Parameter() {name = "x"} : tensor<3x5x7xsi32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = true, name = "r"} : tensor<3x1x7xsi32>
    %2 = opset1.Subtract(%x, %1) : tensor<3x5x7xsi32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @all_but_batches
// CHECK:           %[[F:.*]] = opset1.Convert(%x) {destination_type = f32
// CHECK:           %[[R:.*]] = opset1.ReduceMax(%[[F]], %{{.*}}){{.*}} : tensor<3xf32>
// CHECK:           %[[S:.*]] = opset1.Convert(%[[R]]) {destination_type = si32
// CHECK:           opset1.Add(%[[S]], %c)
builtin.module {
  moir.model @all_but_batches {
    %x = opset1.Parameter() {name = "x"} : tensor<3x5x7xsi32>
    %axes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<si32>, [2]>} : tensor<si32>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = false, name = "r"} : tensor<3xsi32>
    %2 = opset1.Add(%1, %c) : tensor<3xsi32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Integers of several dimensions, divided by a constant, would be rounded to the nearest; by 1 they stay.
// CHECK-LABEL: moir.model @halved
// CHECK:           %[[F:.*]] = opset1.Convert(%x) {destination_type = f32
// CHECK:           %[[R:.*]] = opset1.ReduceSum(%[[F]], %{{.*}}){{.*}} : tensor<?xf32>
// CHECK:           %[[S:.*]] = opset1.Convert(%[[R]]) {destination_type = si64
// CHECK:           %[[T:.*]] = opset1.Subtract(%[[S]]
// CHECK:           opset1.Divide(%[[T]]
// CHECK-NOT:       Convert
builtin.module {
  moir.model @halved {
    %x = opset1.Parameter() {name = "x"} : tensor<?x5xsi64>
    %y = opset1.Parameter() {name = "y"} : tensor<?x5xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %two = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %1 = opset1.ReduceSum(%x, %axes) {keep_dims = false, name = "r"} : tensor<?xsi64>
    %2 = opset1.Subtract(%1, %one) : tensor<?xsi64>
    %3 = opset1.Divide(%2, %two) : tensor<?xsi64>
    %4 = opset1.ReduceSum(%y, %axes) {keep_dims = false, name = "s"} : tensor<?xsi64>
    %5 = opset1.Divide(%4, %one) : tensor<?xsi64>
    opset1.Result(%3) {name = "z"}
    opset1.Result(%5) {name = "w"}
  }
}

// -----

// A reduction of integers along a last dimension of size 1 is not fused with the subtraction from another one.
// CHECK-LABEL: moir.model @spread
// CHECK:           %[[A:.*]] = opset1.ReduceMax(%{{.*}}) {keep_dims = true} : tensor<?x3x1xf32>
// CHECK:           %[[B:.*]] = opset1.Convert(%[[A]]) {destination_type = si64
// CHECK:           %[[C:.*]] = opset1.ReduceMin(%{{.*}}) {keep_dims = true} : tensor<?x3x1xf32>
// CHECK:           %[[D:.*]] = opset1.Convert(%[[C]]) {destination_type = si64
// CHECK:           opset1.Subtract(%[[B]], %[[D]])
builtin.module {
  moir.model @spread {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x1xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = true} : tensor<?x3x1xsi64>
    %2 = opset1.ReduceMin(%x, %axes) {keep_dims = true} : tensor<?x3x1xsi64>
    %3 = opset1.Subtract(%1, %2) : tensor<?x3x1xsi64>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// A Broadcast in both directions to a constant shape is a product with ones.
// CHECK-LABEL: moir.model @ones
// CHECK:           %[[S:.*]] = opset15.Squeeze
// CHECK:           opset3.Broadcast(%[[S]], %t)
builtin.module {
  moir.model @ones {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x7xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %t = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 1]>} : tensor<3xsi64>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = true} : tensor<?x?x1xf32>
    %2 = opset3.Broadcast(%1, %t) {mode = "bidirectional"} : tensor<?x2x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @first
// CHECK:           %[[R:.*]] = opset1.ReduceSum(%x, %{{.*}}) {keep_dims = true{{.*}}} : tensor<1x2x4xf32>
// CHECK:           %[[S:.*]] = opset15.Squeeze(%[[R]], %{{.*}}) {{.*}}: tensor<2x4xf32>
// CHECK:           opset1.Divide(%[[S]], %c)
builtin.module {
  moir.model @first {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2x4xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %1 = opset1.ReduceSum(%x, %axes) {keep_dims = false, name = "r"} : tensor<2x4xf32>
    %2 = opset1.Divide(%1, %c) {m_pythondiv = true} : tensor<2x4xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Integers of one dimension by a constant, and integers of possibly more batches than rows.
// CHECK-LABEL: moir.model @integers
// CHECK:           %[[S:.*]] = opset1.ReduceSum(%{{.*}}) : tensor<f32>
// CHECK:           %[[I:.*]] = opset1.Convert(%[[S]]) {destination_type = si32
// CHECK:           opset1.Divide(%[[I]],
// CHECK:           %[[M:.*]] = opset1.ReduceMax(%{{.*}}) : tensor<?x2xf32>
// CHECK:           %[[J:.*]] = opset1.Convert(%[[M]]) {destination_type = si32
// CHECK:           opset1.Add(%[[J]],
// CHECK:           %[[N:.*]] = opset1.ReduceMin(%{{.*}}) : tensor<3x2xf32>
// CHECK:           %[[K:.*]] = opset1.Convert(%[[N]]) {destination_type = si32
// CHECK:           opset1.Negative(%[[K]])
// CHECK:           opset1.ReduceMax(%w, %last) : tensor<2x2xsi32>
builtin.module {
  moir.model @integers {
    %x = opset1.Parameter() {name = "x"} : tensor<?xsi32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x2x5xsi32>
    %z = opset1.Parameter() {name = "z"} : tensor<3x2x5xsi32>
    %w = opset1.Parameter() {name = "w"} : tensor<2x2x5xsi32>
    %first = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<si32>, [4]>} : tensor<si32>
    %1 = opset1.ReduceSum(%x, %first) {keep_dims = false} : tensor<si32>
    %2 = opset1.Divide(%1, %c) {m_pythondiv = false} : tensor<si32>
    %3 = opset1.ReduceMax(%y, %last) {keep_dims = false} : tensor<?x2xsi32>
    %4 = opset1.Add(%3, %c) : tensor<?x2xsi32>
    %5 = opset1.ReduceMin(%z, %last) {keep_dims = false} : tensor<3x2xsi32>
    %6 = opset1.Negative(%5) : tensor<3x2xsi32>
    %7 = opset1.ReduceMax(%w, %last) {keep_dims = false} : tensor<2x2xsi32>
    %8 = opset1.Add(%7, %c) : tensor<2x2xsi32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%4) {name = "b"}
    opset1.Result(%6) {name = "c"}
    opset1.Result(%8) {name = "d"}
  }
}

// -----

// A PRelu with one slope is fused like other elementwise operations.
// CHECK-LABEL: moir.model @activated
// CHECK:           %[[R:.*]] = opset1.ReduceMean(%{{.*}}) {keep_dims = true{{.*}}} : tensor<1x2x3x1xf32>
// CHECK:           %[[S:.*]] = opset15.Squeeze(%[[R]], %{{.*}}) {{.*}}: tensor<2x3x1xf32>
// CHECK:           %[[P:.*]] = opset1.PRelu(%[[S]], %slope)
// CHECK:           opset1.Multiply(%[[P]], %c)
builtin.module {
  moir.model @activated {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x7xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %slope = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.5]>} : tensor<1xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<3x1xf32>, [1.0, 2.0, 3.0]>} : tensor<3x1xf32>
    %1 = opset1.ReduceMean(%x, %axes) {keep_dims = true, name = "r"} : tensor<2x3x1xf32>
    %2 = opset1.PRelu(%1, %slope) : tensor<2x3x1xf32>
    %3 = opset1.Multiply(%2, %c) : tensor<2x3x1xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// The Transposes around a reduction cancel, and constants for rows follow.
// CHECK-LABEL: moir.model @between_transposes
// CHECK-NOT:       Transpose
// CHECK:           %[[U:.*]] = opset1.Unsqueeze(%x, %{{.*}}) : tensor<1x3x2x8xf32>
// CHECK:           %[[R:.*]] = opset1.ReduceMean(%[[U]], %{{.*}}) {keep_dims = true{{.*}}} : tensor<1x1x2x8xf32>
// CHECK:           %[[S:.*]] = opset15.Squeeze(%[[R]], %{{.*}}) {{.*}}: tensor<1x2x8xf32>
// CHECK:           opset1.Multiply(%[[S]], %c)
builtin.module {
  moir.model @between_transposes {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2x8xf32>
    %p = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 0]>} : tensor<3xsi64>
    %q = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 0, 1]>} : tensor<3xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %1 = opset1.Transpose(%x, %p) : tensor<2x8x3xf32>
    %2 = opset1.ReduceMean(%1, %axes) {keep_dims = true} : tensor<2x8x1xf32>
    %3 = opset1.Transpose(%2, %q) : tensor<1x2x8xf32>
    %4 = opset1.Multiply(%3, %c) : tensor<1x2x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// A Reshape undoes the Transpose where it moves dimensions of size 1 alone.
// CHECK-LABEL: moir.model @reshaped_back
// CHECK-NOT:       Transpose
// CHECK:           opset1.ReduceMean({{.*}} : tensor<1x1x2x8xf32>
// CHECK-NOT:       Reshape
builtin.module {
  moir.model @reshaped_back {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2x8xf32>
    %p = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 0, 2]>} : tensor<3xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 8]>} : tensor<3xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %1 = opset1.Transpose(%x, %p) : tensor<2x3x8xf32>
    %2 = opset1.ReduceMean(%1, %axes) {keep_dims = true} : tensor<2x1x8xf32>
    %3 = opset1.Reshape(%2, %s) {special_zero = false} : tensor<1x2x8xf32>
    %4 = opset1.Multiply(%3, %c) : tensor<1x2x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// Other Transposes, and a Reshape that joins other elements, remain.
// CHECK-LABEL: moir.model @other_transposes
// CHECK:           opset1.Transpose(%x
// CHECK:           opset1.Transpose(%x
// CHECK:           opset1.Reshape
builtin.module {
  moir.model @other_transposes {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2x8xf32>
    %p = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 0]>} : tensor<3xsi64>
    %r = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 1, 0]>} : tensor<3xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 8]>} : tensor<3xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %1 = opset1.Transpose(%x, %p) : tensor<2x8x3xf32>
    %2 = opset1.ReduceMean(%1, %axes) {keep_dims = true} : tensor<2x8x1xf32>
    %3 = opset1.Transpose(%2, %p) : tensor<8x1x2xf32>
    %4 = opset1.Transpose(%x, %r) : tensor<8x2x3xf32>
    %5 = opset1.ReduceMean(%4, %axes) {keep_dims = true} : tensor<8x2x1xf32>
    %6 = opset1.Reshape(%5, %s) {special_zero = false} : tensor<1x2x8xf32>
    opset1.Result(%3) {name = "a"}
    opset1.Result(%6) {name = "b"}
  }
}

// -----

// So does a reduction of four dimensions.
// CHECK-LABEL: moir.model @four_dimensions
// CHECK:           opset1.Transpose(%x
// CHECK:           opset1.Reshape
builtin.module {
  moir.model @four_dimensions {
    %x = opset1.Parameter() {name = "x"} : tensor<1x3x2x8xf32>
    %p = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 8]>} : tensor<3xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %1 = opset1.Transpose(%x, %p) : tensor<1x2x8x3xf32>
    %2 = opset1.ReduceMean(%1, %axes) {keep_dims = true} : tensor<1x2x8x1xf32>
    %3 = opset1.Reshape(%2, %s) {special_zero = false} : tensor<1x2x8xf32>
    opset1.Result(%3) {name = "a"}
  }
}
