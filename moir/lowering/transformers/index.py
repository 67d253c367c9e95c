"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX: dict[str, str] = {
    "alternating_updates": "CorrectValues MixValues Rescale",
    "arithmetic": "Add Clip Difference Gate Multiply Scale SoftCap",
    "attention": "Attention Rotate",
    "convolution": "CausalConvolution MaskPadding",
    "delta_rule": "GatedDeltaRule",
    "distances": "DistanceScores",
    "experts": "MixtureOfExperts",
    "feed_forward": "GatedMLP MLP PackedGatedMLP XIELU",
    "gated_recurrence": "GatedRecurrence",
    "indexing": "Embedding FirstToken MeanToken",
    "key_index": "IndexedMask",
    "latent_attention": "LatentAttention",
    "lightning_attention": "LightningAttention",
    "masks": "CausalMask Mask PositionBias",
    "matrix": "Linear",
    "movement": "Concat Split",
    "normalization": "LayerNorm RMSNorm",
    "positions": "CountedPositions FirstTypes LengthFactor Positions RotaryEmbedding TokenIndices UnpaddedPositions",
    "state_space": "SelectiveStateSpace",
    "weights": "Dequantize",
}
