"""Masks that go along with tensors without being arguments.

A file of Keras 3 has some of them as arguments as well, which are the same.
An Embedding with `mask_zero` and a Masking begin a mask; layers that keep the steps of their input pass it on, and
those that ask for it get it as an argument.
"""

from __future__ import annotations

MASKED = frozenset(
    (
        *("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Bidirectional", "CuDNNGRU", "CuDNNLSTM"),
        *("GlobalAveragePooling1D", "Softmax"),
    )
)
"""Layers whose argument `mask` is the mask of their input."""

RECURRENT = frozenset(("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Bidirectional"))
"""Layers that pass the mask on if they return all steps."""

ATTENDING = {
    "MultiHeadAttention": ("query_mask", "value_mask", "key_mask"),
    "GroupQueryAttention": ("query_mask", "value_mask", "key_mask"),
    "GroupedQueryAttention": ("query_mask", "value_mask", "key_mask"),
}
"""Attention layers: the arguments that are the masks of their inputs."""

LISTED = frozenset(("Attention", "AdditiveAttention"))
"""Attention layers whose argument `mask` is the list of the masks of the query and the value."""

MERGING = frozenset(("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"))
"""Layers that join the masks of their inputs."""

PASSING = frozenset(
    (
        *("Dense", "Dropout", "Activation", "Identity", "LayerNormalization", "BatchNormalization", "GroupNormalization"),
        *("UnitNormalization", "LeakyReLU", "ReLU", "PReLU", "ELU", "Softmax", "Rescaling", "ThresholdedReLU"),
        *("Normalization", "AlphaDropout", "GaussianDropout", "GaussianNoise", "ActivityRegularization", "SpatialDropout1D"),
        *("SpatialDropout2D", "SpatialDropout3D", "TimeDistributed", "MultiHeadAttention", "GroupQueryAttention", "Attention"),
        *("AdditiveAttention", "Lambda", "Masking"),
    )
)
"""Layers whose result has the mask of their first input."""
