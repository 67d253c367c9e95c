"""The kinds that each file of this package lowers; `python -m scripts.lowering_index` writes it."""

INDEX = """
attention: Attention
experts: MixtureOfExperts
feed_forward: GatedMLP MLP PackedGatedMLP
masks: CausalMask Mask
positions: CountedPositions FirstTypes Positions RotaryEmbedding UnpaddedPositions
vectors: Add Clip Embedding FirstToken LayerNorm Linear RMSNorm Scale SoftCap Split
weights: Dequantize
"""
