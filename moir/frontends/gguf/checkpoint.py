"""The weights of a file, by the operands of the network that reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping

import numpy as np

from moir.architectures.record import Architecture, Configuration
from moir.architectures.stored_weight import StoredWeight
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.large_arrays import computed, pieces
from moir.dialects.memory_map import Array
from moir.errors import ModelFileError
from moir.frontends.gguf.container import Container, StoredTensor
from moir.frontends.gguf.latent import joined
from moir.frontends.gguf.rotary import TENSORS as ROTARY_TENSORS
from moir.frontends.gguf.spellings import LAYER, Spelling
from moir.frontends.gguf.weights import stacked, weight_of
from moir.frontends.huggingface.checkpoint import LISTED
from moir.support.suggestions import did_you_mean

BIASED = (
    *("attention.query", "attention.key", "attention.value", "attention.query_key_value", "attention.output"),
    *("feed_forward.gate", "feed_forward.up", "feed_forward.gate_up", "feed_forward.down"),
    *("state_space.input", "state_space.step", "state_space.output", "convolution.kernel"),
)
"""The operands of a layer that may have biases."""

IGNORED = re.compile(r"blk\.\d+\.attn_rot_embd\.weight")
"""Tensors of older files that repeat the frequencies of rotary embeddings."""

_LAYER = re.compile(r"layers\.(\d+)\.(.+)")

STACKED: Mapping[str, str] = {"first_values": "altup_proj.weight", "last_values": "altup_unembd_proj.weight"}
"""Tensors that stack the matrices of several blocks of a model, by the beginning of the names of the blocks."""

_STACKED = re.compile(r"(first_values|last_values)\.(\d+)\.weight")

_DECAY = re.compile(r"layers\.\d+\.(state_space|delta_rule)\.decay")

_KEY_VALUE_UP = re.compile(r"layers\.\d+\.attention\.key_value_up\.weight")

_PERMUTED = re.compile(r"layers\.\d+\.attention\.(query|key)\.(weight|bias)")

_OF_LAYER = re.compile(r"blk\.(\d+)\.")

_EXPERTS = re.compile(r"layers\.(\d+)\.experts\.(gate|up|down)\.weight")

SEPARATE = "ffn_{}.{}.weight"
"""The tensor of one expert in files of Mixtral before March 2024, by the part and the number of the expert."""

_GATED = re.compile(r"(layers\.\d+\.experts)\.(gate|up)\.weight")


class FileCheckpoint:
    """The weights of a file.

    Args:
        container: the file.
        spelling: how its tensors are named.
        configuration: the sizes of the model.
    """

    def __init__(self, container: Container, spelling: Spelling, configuration: Configuration) -> None:
        self.location = container.location
        self.container = container
        self.spelling = spelling
        self.head_counts: Mapping[str, int] = {"query": configuration.heads, "key": configuration.key_heads}
        self.layers, self.sources = configuration.layers, configuration.sources
        self._read: set[str] = set(ROTARY_TENSORS)

    def name(self, operand: str) -> str:
        """The name in the file of an operand (`….weight`, `….bias`) or of a block."""
        block, _, kind = operand.rpartition(".")
        if kind in ("weight", "bias"):
            return f"{self._block(block, f'.{kind}')}.{kind}"
        return self._block(operand)

    def _block(self, block: str, ending: str = "") -> str:
        match = _LAYER.fullmatch(block)
        start, operand = ("", block) if match is None else (f"{LAYER.format(match[1])}.", match[2])
        names = [start + name for name in self.spelling.tensors_of(operand)]
        return next((name for name in names if name + ending in self.container.tensors), names[-1])

    def has(self, operand: str) -> bool:
        """Whether the file has a tensor for an operand."""
        return self.name(operand) in self.container.tensors

    def biases(self) -> frozenset[str]:
        """The operands within layers that have a bias in some layer of the file."""
        return frozenset(each for each in BIASED if any(self.has(f"layers.{layer}.{each}.bias") for layer in range(self.layers)))

    def weight(self, operand: str, shape: tuple[int, ...]) -> StoredWeight:
        """The weight of an operand. Raises ModelFileError if it is missing or has another shape."""
        gated = _GATED.fullmatch(operand)
        if gated is not None and self.has(f"{gated[1]}.gate_up.weight"):
            count, rows, columns = shape
            both = self._stored(f"{gated[1]}.gate_up.weight", (count, 2 * rows, columns))
            start = rows if gated[2] == "up" else 0
            return both.rows(lambda array: array[:, start : start + rows])
        stacked_part = _STACKED.fullmatch(operand)
        if stacked_part is not None:
            return self._part(STACKED[stacked_part[1]], int(stacked_part[2]), shape)
        if _DECAY.fullmatch(operand):
            return self._logarithm(operand, shape)
        if _KEY_VALUE_UP.fullmatch(operand) and not self.has(operand):
            return self._key_value_up(operand, shape)
        separate = self._separate_experts(operand, shape)
        if separate is not None:
            return separate
        weight = self._stored(operand, shape)
        permuted = _PERMUTED.fullmatch(operand)
        if permuted is None or not self.spelling.is_permuted:
            return weight
        heads = self.head_counts[permuted[1]]
        if shape[0] % (2 * heads):
            raise self.error(f"the {shape[0]} rows of the tensor {self.name(operand)!r} are not pairs in {heads} heads")

        def unpermuted(array: Array) -> Array:
            pairs = array.reshape(heads, shape[0] // heads // 2, 2, *array.shape[1:])
            return pairs.swapaxes(1, 2).reshape(array.shape)

        return weight.rows(unpermuted)

    def _part(self, name: str, index: int, shape: tuple[int, ...]) -> StoredWeight:
        """Matrix `index` [N, K] of a tensor [count, N, K], of shape `shape`.

        Raises ModelFileError if the tensor does not have it.
        """
        tensor = self.container.tensors.get(name)
        if tensor is None or len(tensor.shape) != 3 or tensor.shape[1:] != shape or index >= tensor.shape[0]:
            raise self.error(f"the tensor {name!r} has no matrix {index} of {list(shape)}")
        self._read.add(name)
        weight = weight_of(StoredTensor(name, tensor.type, shape, tensor.rows[index]), is_table=False)
        if weight is None:
            raise self.error(f"the tensor {name!r} of the type {tensor.type.name} is no matrix")
        return weight

    def _key_value_up(self, operand: str, shape: tuple[int, ...]) -> StoredWeight:
        """The matrix that expands compressed keys and values, from those of each head for the keys, transposed, and for
        the values. Raises ModelFileError if one is missing or of another shape.
        """
        begin = LAYER.format(operand.split(".")[1])
        names = [f"{begin}.attn_{part}_b.weight" for part in "kv"]
        tensors = [self.container.tensors.get(name) for name in names]
        heads, rank = self.head_counts["query"], shape[-1]
        sizes = [0 if each is None or len(each.shape) != 3 else each.shape[axis] for each, axis in zip(tensors, (2, 1), strict=True)]
        if heads * sum(sizes) != shape[0]:
            raise self.error(f"the tensors {names[0]!r} and {names[1]!r} are not matrices for {heads} heads, {shape[0]} rows in all")
        return joined(self._tensor(names[0], (heads, rank, sizes[0])), self._tensor(names[1], (heads, sizes[1], rank)))

    def _logarithm(self, operand: str, shape: tuple[int, ...]) -> StoredWeight:
        """The weight ln(-x) of the decay of a state space, which files store as x. Raises ModelFileError if an x is not
        negative.
        """
        stored = self._stored(operand, shape)
        values = stored.codes.values if stored.is_plain else None
        if values is None or not all((piece < 0).all() for piece in pieces(values)):
            reason = "decay rates of a state space model are negative floats"
            raise self.error(f"the tensor {self.name(operand)!r} has elements that are not negative, or codes: {reason}")
        return StoredWeight(DataAttr.of(computed(_logarithm_of_negative, values), f32))

    def _separate_experts(self, operand: str, shape: tuple[int, ...]) -> StoredWeight | None:
        """The matrices of experts that have a tensor each; None for other weights.

        Raises ModelFileError if one is missing, or the tensors are of several types.
        """
        match = _EXPERTS.fullmatch(operand)
        if match is None or self.has(operand):
            return None
        names = [f"{LAYER.format(match[1])}.{SEPARATE.format(match[2], expert)}" for expert in range(shape[0])]
        if names[0] not in self.container.tensors:
            return None
        weights = [self._weight(name, shape[1:], is_table=False) for name in names]
        if len({self.container.tensors[name].type.name for name in names}) > 1:
            raise self.error(f"the tensors {names[0]!r}, … of one matrix of all experts have several types", "quantize the original again")
        return stacked(weights)

    def _stored(self, operand: str, shape: tuple[int, ...]) -> StoredWeight:
        """The weight of an operand as it is in the file. Raises ModelFileError if it is missing or has another
        shape.
        """
        return self._weight(self.name(operand), shape, is_table=operand == "embedding.weight")

    def _weight(self, name: str, shape: tuple[int, ...], is_table: bool) -> StoredWeight:
        """The weight of the tensor `name`; `is_table` if single rows of it are read. Raises ModelFileError if it is
        missing or has another shape.
        """
        tensor = self._tensor(name, shape)
        if tensor.shape != shape:
            return self._vector(tensor, shape)
        weight = weight_of(tensor, is_table=is_table)
        if weight is None:
            raise self.error(f"the tensor {name!r} of the type {tensor.type.name} is no matrix")
        return weight

    def _tensor(self, name: str, shape: tuple[int, ...]) -> StoredTensor:
        """The tensor `name` for a weight of a shape; another shape than this only of 2-D tensors for vectors.

        Raises ModelFileError if it is missing or has another shape.
        """
        tensor = self.container.tensors.get(name)
        if tensor is None:
            raise self.error(f"the tensor {name!r} is missing", did_you_mean(name, self.container.tensors))
        self._read.add(name)
        if (1, *tensor.shape) == shape:
            # Writers drop a first dimension of one row.
            tensor = StoredTensor(name, tensor.type, shape, tensor.rows[None])
        if tensor.shape == (1, *shape) and len(shape) == 1:
            tensor = StoredTensor(name, tensor.type, shape, tensor.rows[0])
        if len(shape) == 1 and len(tensor.shape) == 2 and math.prod(tensor.shape) == shape[0]:
            # Vectors in columns, or one row for each group.
            return tensor
        if tensor.shape != shape:
            raise self.error(f"the tensor {name!r} is {list(tensor.shape)} instead of {list(shape)}")
        return tensor

    def _vector(self, tensor: StoredTensor, shape: tuple[int, ...]) -> StoredWeight:
        """The elements of a tensor, reshaped to a 1-D weight. Raises ModelFileError if they are quantized."""
        weight = weight_of(tensor, is_table=False)
        if weight is None or not weight.is_plain:
            raise self.error(f"the 1-D tensor {tensor.name!r} is of the type {tensor.type.name}, which is for matrices")
        return StoredWeight(DataAttr.of(weight.codes.values.reshape(shape), weight.codes.element))

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the weights."""
        return self.container.error(reason, hint)

    def check_all_read(self) -> None:
        """Raises ModelFileError for tensors that no operand has read, unless they have no effect."""
        unread = list(self._unread())
        if unread:
            listed = ", ".join(sorted(unread)[:LISTED]) + (f", … {len(unread)} in all" if len(unread) > LISTED else "")
            hint = "moir does not know what they are for, and cannot tell what the model computes"
            raise self.error(f"{len(unread)} tensors have no place in a model of {self.spelling.family}: {listed}", hint)

    def _unread(self) -> Iterator[str]:
        return (name for name in self.container.tensors if name not in self._read and not self._is_ignored(name))

    def _is_ignored(self, name: str) -> bool:
        """Whether a tensor has no effect: it is from an older version, of a layer for multi-token prediction, or of a
        shared cache.
        """
        match = _OF_LAYER.match(name)
        if match is not None and int(match[1]) >= self.layers:
            return True
        has_own = match is None or not self.sources or self.sources[int(match[1])] == int(match[1])
        return bool(IGNORED.fullmatch(name)) or (not has_own and name.partition(".attn_")[2].startswith(("k", "v")))


def _logarithm_of_negative(values: Array) -> Array:
    return np.log(-values.astype(np.float32))


def as_stored(architecture: Architecture, checkpoint: FileCheckpoint) -> Architecture:
    """The architecture of a family, changed to how GGUF files store its weights.

    Projections may be separate or concatenated, whatever the family's own files have; the matrices of experts are
    separate; an offset of 1 is already added to the weights of normalizations; there is a bias if the file has a tensor
    for it.
    """
    is_stacked = checkpoint.has("layers.0.attention.query_key_value.weight")
    has_delta_rule, has_strengths = (checkpoint.has(f"layers.0.delta_rule.{each}.weight") for each in ("norm", "strengths"))
    architecture = architecture.with_fields(**checkpoint.spelling.architecture)
    attention = architecture.attention.with_fields(packing="stacked" if is_stacked and not has_delta_rule else "separate")
    if is_stacked and has_delta_rule and not has_strengths:
        architecture = architecture.with_fields(delta_packing="all heads")
    gates = ("layers.0.feed_forward.gate.weight", "layers.0.shared_expert.gate.weight")
    is_gated = architecture.feed_forward != "plain" and any(checkpoint.has(each) for each in gates)
    return architecture.with_fields(
        attention=attention,
        feed_forward="gated" if is_gated else architecture.feed_forward,
        experts="each",
        norm_offset=0.0,
        norm_bias=checkpoint.has("final_norm.bias"),
        head_bias=checkpoint.has("head.bias"),
    )
