"""Families of graphs by which hand-written patterns are proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Family: TypeAlias = "Callable[[], Iterator[ModuleOp]]"

FAMILIES: Mapping[tuple[str, str], str] = {
    ("cancel-transposes", "TransposeOfTranspose"): "transposes:consecutive",
    ("reshape-unit-transposes", "UnitTranspose"): "transposes:with_units",
    ("fuse-matmul-transpose", "TransposedOperand"): "transposes:before_products",
    ("fuse-matmul-transpose", "TransposedResult"): "transposes:after_products",
    ("cancel-reshapes", "InsertedAndRemoved"): "resizings:inserted_and_removed",
    ("cancel-reshapes", "ReshapeOfReshape"): "resizings:reshaped_twice",
    ("cancel-reshapes", "ResizedReshape"): "resizings:resized_reshapes",
    ("cancel-reshapes", "GatherOfInsertedDimension"): "resizings:gathered",
    ("cancel-reshapes", "UnsqueezedBroadcast"): "resizings:unsqueezed_broadcasts",
    ("fuse-concats", "ConcatOfConcats"): "parts:concats",
    ("fuse-slices", "SliceOfSlice"): "parts:consecutive_slices",
    ("fuse-slices", "PartsOfWhole"): "parts:slices_of_whole",
    ("fuse-slices", "ElementOfSlice"): "parts:single_slices",
    ("simplify-indices", "ElementOfConcat"): "parts:elements_of_concats",
    ("eliminate-identities", "ResultEqualToOperand"): "identities:neutral",
    ("eliminate-identities", "DecidedSelect"): "identities:decided",
    ("simplify-indices", "NeedlessLimit"): "integers:limits",
    ("simplify-indices", "ConstantSelect"): "integers:selects",
    ("simplify-indices", "WrappedIndex"): "integers:wrapped",
    ("simplify-indices", "WrappedRange"): "integers:ranges",
    ("cancel-conversions", "TruthAnyway"): "integers:truths",
    ("fuse-one-hot", "ComparedPositions"): "integers:one_hots",
    ("simplify-broadcast", "RedundantBroadcast"): "broadcasts:redundant",
    ("simplify-broadcast", "BroadcastNeutralElement"): "broadcasts:neutral",
    ("simplify-broadcast", "ConstantTarget"): "broadcasts:computed",
    ("simplify-reshape", "ConstantTarget"): "sizes:reshapes",
    ("compute-sizes-1d", "UnsqueezedScalar"): "sizes:unsqueezed",
    ("compute-sizes-1d", "ConcatOfElements"): "sizes:concatenated",
    ("unfold-einsum", "MatrixProduct"): "products:einsums",
    ("fuse-pads", "PadOfWindow"): "products:padded",
    ("cancel-transposes", "SplitAndMerged"): "regroupings:split_and_merged",
    ("fuse-depth-to-space", "BlocksToSpace"): "regroupings:depth_to_space",
    ("fuse-space-to-depth", "SpaceToBlocks"): "regroupings:space_to_depth",
    ("fuse-shuffle-channels", "ShuffledChannels"): "regroupings:shuffled_channels",
    ("eliminate-dead", "eliminate-dead"): "identities:unused",
    ("deduplicate", "deduplicate"): "identities:repeated",
    ("simplify-shape-of", "simplify-shape-of"): "sizes:shapes",
    ("unflatten-matmul", "FlattenedProduct"): "regroupings:flattened_matrices",
    ("unflatten-batch", "FlattenedTranspose"): "batches:flattened_transposes",
    ("unflatten-batch", "FlattenedBatch"): "batches:flattened_batches",
}
"""The generators, by the pass and the name of the pattern."""

BOUNDED: Mapping[tuple[str, str], str] = {
    ("choose-layouts", "choose-layouts"): "layouts:operations_between_transposes",
    ("cancel-conversions", "IntegersAnyway"): "integers:converted_twice",
    ("drop-key-bias", "KeyBias"): "attentions:biased_keys",
    ("fold-batch-norm", "BatchNorm"): "folded_constants:normalized_batches",
    ("fold-channel-order", "OrderBefore"): "parts_of_channels:reordered_channels",
    ("fold-constants", "fold-constants"): "folded_constants:constants",
    ("fold-scales", "TwoConstants"): "folded_constants:two_constants",
    ("fold-scales", "ScaleAfter"): "folded_constants:scales_after",
    ("fold-scales", "ScaleBefore"): "folded_constants:scales_before",
    ("fold-scales", "RangeAfter"): "folded_constants:ranges_after",
    ("fold-shifts", "ShiftBefore"): "folded_constants:shifts_before",
    ("fold-shifts", "TermsAfter"): "folded_constants:terms_after",
    ("fuse-attention", "fuse-attention"): "attentions:products",
    ("fuse-dilated-convolution", "ConvolutionOfParts"): "parts_of_channels:convolutions_of_blocks",
    ("fuse-einsum-attention", "fuse-einsum-attention"): "attentions:einsums",
    ("fuse-fake-quantize", "LimitedBeforeRounding"): "activations:limited",
    ("fuse-fake-quantize", "RoundedBeforeConcat"): "activations:concatenated",
    ("fuse-gelu", "fuse-gelu"): "activations:gelus",
    ("fuse-group-normalization", "GroupedMvn"): "parts_of_channels:grouped_standardizations",
    ("fuse-group-normalization", "RepeatedStatistics"): "parts_of_channels:repeated_statistics",
    ("fuse-group-normalization", "AffineOfGroups"): "parts_of_channels:affine_groups",
    ("fuse-grouped-convolution", "ConvolutionsOfSplit"): "parts_of_channels:split_convolutions",
    ("fuse-repeats", "fuse-repeats"): "repetitions:repeats",
    ("store-quantized-weights", "QuantizedWeights"): "folded_constants:quantized_weights",
    ("fuse-window-means", "MeanOfWindows"): "windows:means_of_windows",
    ("infer-types", "infer-types"): "types:untyped",
    ("inline-branches", "OneBranch"): "branches:branches",
    ("reshape-biases", "SplitBias"): "batches:split_biases",
    ("simplify-indices", "FilledGather"): "integers:filled_gathers",
}
"""The generators of patterns that have a bounded check: static sizes up to 3, and constants of fixed numbers."""


def family_of(name: str, pattern: str) -> Family | None:
    """The generator of a pattern; None if it has none."""
    place = FAMILIES.get((name, pattern)) or BOUNDED.get((name, pattern))
    if place is None:
        return None
    module, _, function = place.partition(":")
    return getattr(import_module(f"{__name__}.{module}"), function)
