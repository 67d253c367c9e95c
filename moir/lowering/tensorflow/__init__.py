"""Lowering of the `tf` dialect, one file per operation family.

    %y = tf.LeakyRelu(%x) {alpha = 0.2, name = "act"} : tensor<*x!moir.dynamic>
->  %y = opset1.PRelu(%x, 0.2) {name = "act"} : tensor<1x8xf32>

Channel-last operations keep the framework's layout: a node becomes Transpose, operation, Transpose (`data_format.py`),
which is correct for every rank and shape. The layout change (`moir/passes/layout`) removes Transposes that are not
required.
"""
