"""moir's own passes for the ids of Model Optimizer's transformations of detection networks.

A configuration such as `ssd_v2_support.json` names ids (`ObjectDetectionAPISSDPostprocessorReplacement`, …). For each
of them `transformations` has a function that recognises the head of the network by what its nodes compute, and replaces
its post-processing by a node `detection.DetectionOutput` or `detection.RegionYolo`, which
`moir/lowering/tensorflow/detection_heads.py` lowers. They run on TensorFlow's dialect, after the passes that raise
loops. A class of an extension with the same `replacement_id` takes the place of moir's own function.
"""
