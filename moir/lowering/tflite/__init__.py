"""Lowering of the `tflite` dialect, one file per operation family.

    %y = tflite.HARD_SWISH(%x) {name = "act"} : tensor<1x8xf32>
->  %y = opset4.HSwish(%x) {name = "act"} : tensor<1x8xf32>

Most builtin operators are operations of TensorFlow with other attributes: `same_as_tensorflow.py` lists them, and
TensorFlow's handlers lower them. Activations that are fused into an operator follow it (`fused_activation.py`).
"""
