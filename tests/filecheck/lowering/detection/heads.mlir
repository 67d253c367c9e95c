// RUN: moir-opt %s -p lower-tf,fold-constants,eliminate-dead --split-input-file | filecheck %s

// Offsets (ty, tx, th, tw) to anchors become locations (x, y, w, h) relative to priors with variances.
// CHECK-LABEL: moir.model @coded
// CHECK:         opset8.Gather
// CHECK:         opset8.DetectionOutput
// CHECK-SAME:      code_type = "caffe.PriorBoxParameter.CENTER_SIZE"
// CHECK-SAME:      tensor<1x1x5x7xf32>
builtin.module {
  moir.model @coded {
    %codes = opset1.Parameter() {name = "codes"} : tensor<1x2x4xf32>
    %scores = opset1.Parameter() {name = "scores"} : tensor<1x2x3xf32>
    %anchors = opset1.Constant() {value = #moir.data<tensor<2x4xf32>, [0.0, 0.1, 0.5, 0.6, 0.2, 0.3, 0.7, 0.9]>} : tensor<2x4xf32>
    %rows, %boxes = detection.DetectionOutput(%codes, %scores, %anchors) {variances = [0.1, 0.1, 0.2, 0.2], background = true, labels_from = 1, nms_threshold = 0.5, confidence_threshold = 0.1, keep_top_k = 5, name = "d"} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
    opset1.Result(%rows) {name = "d"}
  }
}

// -----

// The data of a region is channel-first.
// CHECK-LABEL: moir.model @region
// CHECK:         %[[X:.*]] = opset1.Transpose
// CHECK-NEXT:    opset1.RegionYolo(%[[X]])
// CHECK-SAME:      tensor<1x18x2x2xf32>
builtin.module {
  moir.model @region {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2x18xf32>
    %y = detection.RegionYolo(%x) {classes = 4, coords = 4, num = 2, mask = [0, 1], do_softmax = false, anchors = [1.0, 2.0, 3.0, 4.0], name = "r"} : tensor<*x!moir.dynamic>
    opset1.Result(%y) {name = "r"}
  }
}
