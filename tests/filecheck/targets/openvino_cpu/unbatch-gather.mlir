// RUN: moir-opt %s -p unbatch-gather,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @one
// CHECK:           %[[I:.*]] = opset15.Squeeze(%i, %{{.*}}) : tensor<6xsi64>
// CHECK:           opset8.Gather(%x, %[[I]], %axis) {name = "g"} : tensor<1x6x4xf32>
builtin.module {
  moir.model @one {
    %x = opset1.Parameter() {name = "x"} : tensor<1x12x4xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<1x6xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1 = opset8.Gather(%x, %i, %axis) {batch_dims = 1, name = "g"} : tensor<1x6x4xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A batch that may have more samples stays.
// CHECK-LABEL: moir.model @batch
// CHECK:           opset8.Gather(%x, %i, %axis) {batch_dims = 1}
builtin.module {
  moir.model @batch {
    %x = opset1.Parameter() {name = "x"} : tensor<?x12x4xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<1x6xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1 = opset8.Gather(%x, %i, %axis) {batch_dims = 1} : tensor<1x6x4xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// One index for the only sample.
// CHECK-LABEL: moir.model @list
// CHECK:           %[[I:[0-9]+]] = opset15.Squeeze(%i
// CHECK:           opset8.Gather(%x, %[[I]], %axis) : tensor<1xf32>
builtin.module {
  moir.model @list {
    %x = opset1.Parameter() {name = "x"} : tensor<1x12xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<1xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1 = opset8.Gather(%x, %i, %axis) {batch_dims = 1} : tensor<1xf32>
    opset1.Result(%1) {name = "y"}
  }
}
