// RUN: moir-opt %s -p simplify-indices,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: @wrapped
// CHECK-NOT: opset1.Less(
moir.model @wrapped {
  %x = opset1.Parameter() {name = "x"} : tensor<50x8xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %zero = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
  %size = opset1.Constant() {value = #moir.data<tensor<si32>, [50]>} : tensor<si32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [49]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %n = opset1.Less(%i, %zero) : tensor<?xi1>
  %m = opset1.Add(%i, %size) : tensor<?xsi32>
  %w = opset1.Select(%n, %m, %i) : tensor<?xsi32>
  %a = opset1.Minimum(%w, %last) : tensor<?xsi32>
  %c = opset1.Maximum(%a, %zero) : tensor<?xsi32>
  // CHECK: %[[A:.*]] = opset1.Minimum(%i, %{{.*}})
  // CHECK: %[[FIRST:.*]] = opset1.Constant() {value = #moir.data<tensor<si32>, [-50]>}
  // CHECK: %[[I:.*]] = opset1.Maximum(%[[A]], %[[FIRST]])
  // CHECK: opset8.Gather(%x, %[[I]], %axis) {name = "y"}
  %y = opset8.Gather(%x, %c, %axis) {name = "y"} : tensor<?x8xf32>
  // CHECK: %[[SAME:.*]] = opset1.Equal(%{{.*}}, %i)
  // CHECK: opset1.Unsqueeze(%[[SAME]], %one) {name = "inside"}
  %u = opset1.Unsqueeze(%w, %one) : tensor<?x1xsi32>
  %low = opset1.GreaterEqual(%u, %zero) : tensor<?x1xi1>
  %high = opset1.LessEqual(%u, %last) : tensor<?x1xi1>
  %in = opset1.LogicalAnd(%low, %high) {name = "inside"} : tensor<?x1xi1>
  opset1.Result(%y) {name = "y"}
  opset1.Result(%in) {name = "in"}
}

// -----

// The size that is added is not that of the data: the index stays as it is.
// CHECK-LABEL: @other_size
moir.model @other_size {
  %x = opset1.Parameter() {name = "x"} : tensor<60x8xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %zero = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
  %size = opset1.Constant() {value = #moir.data<tensor<si32>, [50]>} : tensor<si32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [49]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %n = opset1.Less(%i, %zero) : tensor<?xi1>
  %m = opset1.Add(%i, %size) : tensor<?xsi32>
  // CHECK: opset1.Select
  %w = opset1.Select(%n, %m, %i) : tensor<?xsi32>
  %a = opset1.Minimum(%w, %last) : tensor<?xsi32>
  %c = opset1.Maximum(%a, %zero) : tensor<?xsi32>
  %y = opset8.Gather(%x, %c, %axis) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @entry
// CHECK-NOT: opset1.Concat
moir.model @entry {
  %a = opset1.Parameter() {name = "a"} : tensor<1xsi64>
  %b = opset1.Parameter() {name = "b"} : tensor<1xsi64>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %l = opset1.Concat(%a, %b) {axis = 0} : tensor<2xsi64>
  %y = opset8.Gather(%l, %one, %axis) : tensor<1xsi64>
  // CHECK: opset1.Result(%b)
  opset1.Result(%y) {name = "y"}
}

// -----

// NaN where an index is out of range becomes a row of the table.
// CHECK-LABEL: @filled
// CHECK-NOT: opset1.Select
moir.model @filled {
  %x = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %nan = opset1.Constant() {value = #moir.data<tensor<f32>, [0x7FC00000]>} : tensor<f32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
  %first = opset1.Constant() {value = #moir.data<tensor<si32>, [-2]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %a = opset1.Minimum(%i, %last) : tensor<?xsi32>
  %c = opset1.Maximum(%a, %first) : tensor<?xsi32>
  %e = opset1.Equal(%c, %i) : tensor<?xi1>
  %u = opset1.Unsqueeze(%e, %one) : tensor<?x1xi1>
  %g = opset8.Gather(%x, %c, %axis) : tensor<?x2xf32>
  // CHECK: %[[NUMBERS:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [1, 2]>}
  // CHECK: %[[ROWS:.*]] = opset1.Constant() {value = #moir.data<tensor<3x2xf32>, [0x7FC00000, 0x7FC00000, 1.0, 2.0, 3.0, 4.0]>}
  // CHECK: %[[PLACES:.*]] = opset8.Gather(%[[NUMBERS]], %i, %{{.*}}) : tensor<?xsi32>
  // CHECK: opset8.Gather(%[[ROWS]], %[[PLACES]], %{{.*}}) {name = "y"} : tensor<?x2xf32>
  %y = opset1.Select(%u, %g, %nan) {name = "y"} : tensor<?x2xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// A table that is computed is not copied; the check moves to another table. The index has two dimensions, and is reduced.
// CHECK-LABEL: @filled_from_computed
moir.model @filled_from_computed {
  %x = opset1.Parameter() {name = "x"} : tensor<4x2x5xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<?x3xsi32>
  %nan = opset1.Constant() {value = #moir.data<tensor<f32>, [0x7FC00000]>} : tensor<f32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
  %first = opset1.Constant() {value = #moir.data<tensor<si32>, [-2]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
  %two = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
  %three = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 3]>} : tensor<2xsi64>
  %a = opset1.Minimum(%i, %last) : tensor<?x3xsi32>
  %c = opset1.Maximum(%a, %first) : tensor<?x3xsi32>
  %e = opset1.Equal(%c, %i) : tensor<?x3xi1>
  %u = opset1.Unsqueeze(%e, %two) : tensor<?x3x1xi1>
  %r = opset1.ReduceLogicalAnd(%u, %two) {keep_dims = false} : tensor<?x3xi1>
  %v = opset1.Unsqueeze(%r, %three) : tensor<1x?x3x1xi1>
  %g = opset8.Gather(%x, %c, %axis) : tensor<4x?x3x5xf32>
  // CHECK: %[[TRUE:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1xi1>, [true, true]>}
  // CHECK: %[[INSIDE:.*]] = opset8.Gather(%[[TRUE]], %i, %{{.*}}) : tensor<?x3x1xi1>
  // CHECK: %[[READ:.*]] = opset8.Gather(%x, %i, %{{.*}}) : tensor<4x?x3x5xf32>
  // CHECK: opset1.Select(%[[INSIDE]], %[[READ]], %nan) {name = "y"}
  %y = opset1.Select(%v, %g, %nan) {name = "y"} : tensor<4x?x3x5xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// Gather reads zeros itself.
// CHECK-LABEL: @filled_with_zeros
moir.model @filled_with_zeros {
  %x = opset1.Parameter() {name = "x"} : tensor<2x5xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
  %first = opset1.Constant() {value = #moir.data<tensor<si32>, [-2]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %a = opset1.Minimum(%i, %last) : tensor<?xsi32>
  %c = opset1.Maximum(%a, %first) : tensor<?xsi32>
  %e = opset1.Equal(%i, %c) : tensor<?xi1>
  %u = opset1.Unsqueeze(%e, %one) : tensor<?x1xi1>
  %g = opset8.Gather(%x, %c, %axis) : tensor<?x5xf32>
  // CHECK-NOT: opset1.Select
  // CHECK: opset8.Gather(%x, %i, %{{.*}}) {name = "y"}
  %y = opset1.Select(%u, %g, %zero) {name = "y"} : tensor<?x5xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// The check is of another dimension, of another range, or of an index that is limited to less: all stay.
// CHECK-LABEL: @filled_otherwise
// CHECK-COUNT-3: opset1.Select
moir.model @filled_otherwise {
  %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<2xsi32>
  %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
  %none = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
  %first = opset1.Constant() {value = #moir.data<tensor<si32>, [-2]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %zeroth = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
  %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %a = opset1.Minimum(%i, %last) : tensor<2xsi32>
  %c = opset1.Maximum(%a, %first) : tensor<2xsi32>
  %e = opset1.Equal(%i, %c) : tensor<2xi1>
  %g = opset8.Gather(%x, %c, %axis) : tensor<2x2xf32>
  %u = opset1.Unsqueeze(%e, %zeroth) : tensor<1x2xi1>
  %y = opset1.Select(%u, %g, %zero) {name = "y"} : tensor<2x2xf32>
  %d = opset1.Maximum(%a, %none) : tensor<2xsi32>
  %f = opset1.Equal(%i, %d) : tensor<2xi1>
  %v = opset1.Unsqueeze(%f, %one) : tensor<2x1xi1>
  %z = opset1.Select(%v, %g, %zero) {name = "z"} : tensor<2x2xf32>
  %h = opset8.Gather(%x, %d, %axis) : tensor<2x2xf32>
  %w = opset1.Unsqueeze(%e, %one) : tensor<2x1xi1>
  %q = opset1.Select(%w, %h, %zero) {name = "q"} : tensor<2x2xf32>
  opset1.Result(%y) {name = "y"}
  opset1.Result(%z) {name = "z"}
  opset1.Result(%q) {name = "q"}
}

// -----

// Places of a Range, limited to a size, are not negative: only the last one is looked at.
// CHECK-LABEL: @counted
// CHECK-NOT: opset1.Less(
// CHECK-NOT: opset1.Maximum
moir.model @counted {
  %x = opset1.Parameter() {name = "x"} : tensor<50x8xf32>
  %n = opset1.Parameter() {name = "n"} : tensor<si32>
  %zero = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
  %step = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
  %size = opset1.Constant() {value = #moir.data<tensor<si32>, [50]>} : tensor<si32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [49]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %i = opset4.Range(%zero, %n, %step) {output_type = si32} : tensor<?xsi32>
  %l = opset1.Less(%i, %zero) : tensor<?xi1>
  %m = opset1.Add(%i, %size) : tensor<?xsi32>
  %w = opset1.Select(%l, %m, %i) : tensor<?xsi32>
  %a = opset1.Minimum(%w, %last) : tensor<?xsi32>
  %c = opset1.Maximum(%a, %zero) : tensor<?xsi32>
  // CHECK: %[[I:.*]] = opset4.Range
  // CHECK: %[[C:.*]] = opset1.Minimum(%[[I]], %last)
  // CHECK: opset8.Gather(%x, %[[C]], %axis) {name = "y"}
  %y = opset8.Gather(%x, %c, %axis) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// A remainder that is made positive is that of floored division, and needs no limits.
// CHECK-LABEL: @remainder
// CHECK-NOT: opset1.Select
// CHECK-NOT: opset1.Minimum
// CHECK-NOT: opset1.Maximum
moir.model @remainder {
  %x = opset1.Parameter() {name = "x"} : tensor<6x8xf32>
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %zero = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
  %size = opset1.Constant() {value = #moir.data<tensor<si32>, [6]>} : tensor<si32>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [5]>} : tensor<si32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %r = opset1.Mod(%i, %size) : tensor<?xsi32>
  %l = opset1.Less(%r, %zero) : tensor<?xi1>
  %d = opset1.NotEqual(%r, %zero) : tensor<?xi1>
  %b = opset1.LogicalAnd(%l, %d) : tensor<?xi1>
  %m = opset1.Add(%r, %size) : tensor<?xsi32>
  %w = opset1.Select(%b, %m, %r) : tensor<?xsi32>
  %a = opset1.Minimum(%w, %last) : tensor<?xsi32>
  %c = opset1.Maximum(%a, %zero) : tensor<?xsi32>
  // CHECK: %[[W:.*]] = opset1.FloorMod(%i, %size)
  // CHECK: opset8.Gather(%x, %[[W]], %axis) {name = "y"}
  %y = opset8.Gather(%x, %c, %axis) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// A sum of integers may wrap around: nothing is known of it.
// CHECK-LABEL: @overflow
// CHECK: opset1.Maximum
moir.model @overflow {
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %zero = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
  %a = opset1.Maximum(%i, %zero) : tensor<?xsi32>
  %b = opset1.Add(%a, %a) : tensor<?xsi32>
  %c = opset1.Maximum(%b, %zero) {name = "y"} : tensor<?xsi32>
  opset1.Result(%c) {name = "y"}
}
