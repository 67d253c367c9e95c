// RUN: moir-opt %s -p lower-caffe | filecheck %s

// CHECK-LABEL: @proposals_in_python
moir.model @proposals_in_python {
  %scores = opset1.Parameter() {name = "scores"} : tensor<1x12x5x6xf32>
  %offsets = opset1.Parameter() {name = "offsets"} : tensor<1x24x5x6xf32>
  %info = opset1.Parameter() {name = "info"} : tensor<1x3xf32>
  // CHECK: opset4.Proposal
  // CHECK-SAME: feat_stride = 8
  // CHECK-SAME: scale = [2.0, 4.0]
  %y = caffe.Python(%scores, %offsets, %info) {python_param = {module = "rpn.proposal_layer", layer = "ProposalLayer", param_str = "feat_stride: 8\nscales: [2, 4]"}, name = "proposal"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
