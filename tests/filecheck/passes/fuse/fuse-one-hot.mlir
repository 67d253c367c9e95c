// RUN: moir-opt %s -p fuse-one-hot,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: @last
moir.model @last {
  %i = opset1.Parameter() {name = "i"} : tensor<?x3xsi32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
  %all = opset1.Constant() {value = #moir.data<tensor<1x1x4xsi32>, [0, 1, 2, 3]>} : tensor<1x1x4xsi32>
  %u = opset1.Unsqueeze(%i, %axis) : tensor<?x3x1xsi32>
  %e = opset1.Equal(%u, %all) : tensor<?x3x4xi1>
  // CHECK: opset16.OneHot(%i, %{{.*}}, %{{.*}}, %{{.*}}) {axis = 2, name = "y"} : tensor<?x3x4xf32>
  %y = opset1.Convert(%e) {destination_type = f32, name = "y"} : tensor<?x3x4xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @first
moir.model @first {
  %i = opset1.Parameter() {name = "i"} : tensor<3xsi64>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
  %all = opset1.Constant() {value = #moir.data<tensor<4x1xsi64>, [0, 1, 2, 3]>} : tensor<4x1xsi64>
  %u = opset1.Unsqueeze(%i, %axis) : tensor<1x3xsi64>
  %e = opset1.Equal(%all, %u) : tensor<4x3xi1>
  // CHECK: opset16.OneHot(%i, %{{.*}}, %{{.*}}, %{{.*}}) {axis = 0, name = "y"} : tensor<4x3xui8>
  %y = opset1.Convert(%e) {destination_type = ui8, name = "y"} : tensor<4x3xui8>
  opset1.Result(%y) {name = "y"}
}

// -----

// Numbers that do not count from 0, or along another axis, are compared.
// CHECK-LABEL: @others
// CHECK-COUNT-2: opset1.Equal
moir.model @others {
  %i = opset1.Parameter() {name = "i"} : tensor<4xsi32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
  %all = opset1.Constant() {value = #moir.data<tensor<4x1xsi32>, [1, 2, 3, 4]>} : tensor<4x1xsi32>
  %u = opset1.Unsqueeze(%i, %axis) : tensor<1x4xsi32>
  %e = opset1.Equal(%all, %u) : tensor<4x4xi1>
  %y = opset1.Convert(%e) {destination_type = f32, name = "y"} : tensor<4x4xf32>
  %along = opset1.Constant() {value = #moir.data<tensor<4xsi32>, [0, 1, 2, 3]>} : tensor<4xsi32>
  %f = opset1.Equal(%along, %u) : tensor<1x4xi1>
  %z = opset1.Convert(%f) {destination_type = f32, name = "z"} : tensor<1x4xf32>
  opset1.Result(%y) {name = "y"}
  opset1.Result(%z) {name = "z"}
}
