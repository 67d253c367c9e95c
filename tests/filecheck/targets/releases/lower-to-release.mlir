// RUN: moir-opt %s -p 'lower-to-release{release="2022.3"}' --split-input-file | filecheck %s --check-prefix=NEWER
// RUN: moir-opt %s -p 'lower-to-release{release="2021.4"}' --split-input-file | filecheck %s --check-prefix=OLDER

// The newest version that a release reads, in the version of the IR that it reads.
// NEWER-LABEL: moir.model @versions
// NEWER-NOT:     ir_version
// NEWER:         %{{.*}}, %{{.*}} = opset3.TopK(%x, %k) {axis = 1
// NEWER:         opset8.Softmax(%{{.*}}) {axis = -1
// OLDER-LABEL: moir.model @versions attributes {ir_version = 10
// OLDER:         opset3.TopK(%x, %k)
// OLDER:         opset1.Softmax(%{{.*}}) {name = "y"
builtin.module {
  moir.model @versions {
    %x = opset1.Parameter() {name = "x"} : tensor<2x9xf32>
    %k = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>, name = "k"} : tensor<si64>
    %0, %1 = opset11.TopK(%x, %k) {axis = 1, mode = "max", sort = "value"} : tensor<2x3xf32>, tensor<2x3xsi32>
    %2 = opset8.Softmax(%0) {axis = -1, name = "y", tensor_names = ["y"]} : tensor<2x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Attention before 2024: products, since that release computes masks wrongly that has the operation.
// NEWER-LABEL: moir.model @attention
// NEWER:         %[[SCORES:.*]] = opset1.MatMul(%{{.*}}, %k) {transpose_b = true}
// NEWER:         %[[MASKED:.*]] = opset1.Select(%m, %[[SCORES]], %{{.*}})
// NEWER:         %[[WEIGHTS:.*]] = opset8.Softmax(%[[MASKED]]) {axis = -1}
// NEWER:         opset1.MatMul(%[[WEIGHTS]], %v) {name = "y"}
// OLDER-LABEL: moir.model @attention
// OLDER:         opset1.Softmax(%{{.*}}) {axis = 3}
builtin.module {
  moir.model @attention {
    %q = opset1.Parameter() {name = "q"} : tensor<1x2x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x2x5x8xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<1x2x5x8xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<4x5xi1>
    %0 = opset13.ScaledDotProductAttention(%q, %k, %v, %m) {name = "y"} : tensor<1x2x4x8xf32>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

// Indices that may count from the end.
// NEWER-LABEL: moir.model @indices
// NEWER:         opset8.Gather(%x, %i, %a)
// OLDER-LABEL: moir.model @indices
// OLDER:         %[[SUM:.*]] = opset1.Add(%i, %{{.*}})
// OLDER:         %[[INDICES:.*]] = opset1.Select(%{{.*}}, %[[SUM]], %i)
// OLDER:         opset7.Gather(%x, %[[INDICES]], %{{.*}}) {name = "y"}
builtin.module {
  moir.model @indices {
    %x = opset1.Parameter() {name = "x"} : tensor<5x6xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<3xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [-1]>, name = "a"} : tensor<si64>
    %0 = opset8.Gather(%x, %i, %a) {name = "y"} : tensor<5x3xf32>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

// Windows that end behind the data, with padding as far as they reach.
// NEWER-LABEL: moir.model @windows
// NEWER:         opset1.AvgPool(%x) {kernel = [3], strides = [2], pads_begin = [0], pads_end = [1], "exclude-pad" = true
builtin.module {
  moir.model @windows {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x8xf32>
    %0 = opset14.AvgPool(%x) {kernel = [3], strides = [2], pads_begin = [0], pads_end = [0], "exclude-pad" = true, rounding_type = "ceil", name = "y"} : tensor<1x1x4xf32>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

// A Loop that may have no iterations: its states are then those that it begins with.
// NEWER-LABEL: moir.model @loop
// NEWER:         %[[LOOP:.*]] = opset5.Loop(%n, %c, %x)
// NEWER:         opset1.Select(%c, %[[LOOP]], %x) {name = "y"}
builtin.module {
  moir.model @loop {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %n = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>, name = "n"} : tensor<si64>
    %y = opset5.Loop(%n, %c, %x) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0, name = "y"} ({
      %0 = opset1.Parameter() : tensor<2xf32>
      %1 = opset1.Add(%0, %0) : tensor<2xf32>
      %2 = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      opset1.Result(%2)
      opset1.Result(%1)
    }) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
  }
}
