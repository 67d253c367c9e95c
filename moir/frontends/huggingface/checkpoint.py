"""The weights of a folder of Hugging Face Transformers, by the operands of the network that reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from moir.architectures.family import Family
from moir.architectures.stored_weight import StoredWeight
from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.frontends.huggingface.expert_matrices import NUMBER, PACKINGS, flat_matrix, joined_rows, matrix_of, matrix_of_each, packed_matrix
from moir.frontends.huggingface.keys import Keys
from moir.frontends.quantized_checkpoints import UNREAD, Layer, Quantization, stacked_weights
from moir.frontends.safetensors import SafeTensors, are_equal
from moir.support.suggestions import did_you_mean

LISTED = 6
"""The maximum number of names in a message."""

MISMATCH = "do config.json and the weights belong together?"
"""The hint for a weight of another shape."""

FURTHER = 64
"""The maximum number of layers for multi-token prediction in a file."""

_LAYER = re.compile(r"layers\.(\d+)\.(.+)")


class FolderCheckpoint:
    """The weights of a folder.

    Args:
        folder: the folder.
        family: how its tensors are named.
        keys: its config.json.
        quantization: the method by which weights are quantized; None if they are not.
    """

    def __init__(self, folder: Path, family: Family, keys: Keys, quantization: Quantization | None = None) -> None:
        self.location = str(folder)
        self.family = family
        self.keys = keys
        self.quantization = quantization
        self.files = SafeTensors(folder)
        self.tensors = self.files.tensors
        self._names = {self._plain_name(name): name for name in self.tensors}
        self._read: set[str] = set()

    def _plain_name(self, name: str) -> str:
        """The name of a tensor without the prefix that some files add, or with the prefix that some leave out, as in
        the family's record.
        """
        for prefix in self.family.prefixes:
            if name.startswith(prefix):
                name = name.removeprefix(prefix)
                break
        base = self.family.layer.partition(".")[0]
        known = self.family.tensors.values()
        if name.partition(".")[0] == base or not any(each.startswith(f"{base}.") for each in known):
            return name
        completed = f"{base}.{name}"
        begins = [each for each in known if completed.startswith(f"{each}.")]
        layer = self.family.layer.partition("{}")[0]
        return completed if begins or completed.startswith(layer) else name

    # Names

    def name(self, operand: str) -> str:
        """The name of an operand, or of a block, as the family's record spells it."""
        block, _, kind = operand.rpartition(".")
        if kind == "sinks" and "attention.sinks" in self.family.tensors:
            return self._block(operand)
        if kind in ("weight", "bias", "sinks"):
            return f"{self._block(block)}.{kind}"
        return self._block(operand)

    def _block(self, block: str) -> str:
        match = _LAYER.fullmatch(block)
        if match is None:
            return self.family.tensors.get(block, block)
        layer, part = self._layer_name(match.group(1)), match.group(2)
        names = [f"{layer}.{each}" for each in (self.family.tensors.get(part, part), *self.family.other_names.get(part, "").split())]
        return next((each for each in names if self._is_stored(each)), names[0])

    def _layer_name(self, number: str) -> str:
        """The prefix of the names of the tensors of layer `number`, or of its group if layers share weights."""
        if self.family.layer_groups:
            sizes = (self.keys.value(key, self.family.defaults.get(key)) for key in (self.family.layer_groups, self.family.key("layers")))
            groups, layers = (each if isinstance(each, int) and each > 0 else 1 for each in sizes)
            number = str(int(number) * groups // layers)
        return self.family.layer.format(number)

    def _packed_block(self, block: str) -> str:
        """The name of the tensor that stacks the matrices of all experts, `block`.

        If the folder has no tensor of the family's name, that of Transformers for families with a tensor for each
        expert: mlp.experts.gate_up_proj and mlp.experts.down_proj for mlp.experts.0.gate_proj and so on.
        """
        name = self._block(block)
        if not self._is_stored(name):
            of_each = self._block(block.replace("gate_up", "gate"))
            begin, number, _ = of_each.rpartition(f".{NUMBER}.")
            if number:
                return f"{begin}.{'gate_up' if block.endswith('gate_up') else 'down'}_proj"
        return name

    def _is_stored(self, name: str) -> bool:
        """Whether the folder has a tensor of a name, with or without `.weight` at its end."""
        return name in self._names or f"{name}.weight" in self._names

    def _stored_shape(self, name: str) -> tuple[int, ...] | None:
        source = self._names.get(name)
        return None if source is None else self.tensors[source].shape

    # Weights

    def has(self, operand: str) -> bool:
        """Whether the folder has a tensor for an operand."""
        return self.name(operand) in self._names

    def weight(self, operand: str, shape: tuple[int, ...]) -> StoredWeight:
        """The weight of an operand. Raises ModelFileError if it is missing or has another shape."""
        name = self.name(operand)
        quantized = self._quantized(name, operand, shape)
        if quantized is not None:
            return quantized
        kind = self.family.architecture.experts
        if kind == "flat" and (flat := flat_matrix(self.tensor, self._block, operand, shape)) is not None:
            return flat
        packing = PACKINGS.get(kind)
        if packing is None and (matrix := matrix_of(operand)) is not None and self._is_stored(self._packed_block(matrix.tensor)):
            packing = PACKINGS["packed"]
        if packing is not None:
            packed = packed_matrix(self.tensor, self._stored_shape, self._packed_block, operand, shape, packing)
            if packed is not None:
                return packed
        if NUMBER in name:
            return matrix_of_each(self.tensor, name, shape)
        if name not in self._names and (joined := self._joined(operand)):
            parts = [self.tensor(each, (rows, *shape[1:])) for each, rows in joined.items()]
            return StoredWeight(joined_rows(parts, name, shape))
        if self.family.transposed and operand.startswith("layers.") and len(shape) == 2:
            data = self.tensor(name, shape[::-1])
            return StoredWeight(DataAttr.of(data.values.transpose((1, 0)), data.element))
        return StoredWeight(self.tensor(name, shape))

    def _joined(self, operand: str) -> dict[str, int]:
        """The tensors whose concatenated rows are the weight of an operand, with the number of rows of each; empty for
        others.
        """
        block, _, kind = operand.rpartition(".")
        if (match := _LAYER.fullmatch(block)) is None:
            return {}
        layer = self._layer_name(match.group(1))
        names = [f"{layer}.{each}.{kind}" for each in self.family.joined.get(match.group(2), ())]
        return {name: self.tensors[self._names[name]].shape[0] for name in names if name in self._names}

    def _quantized(self, name: str, operand: str, shape: tuple[int, ...]) -> StoredWeight | None:
        """The quantized weight of the tensor `name` for an operand; None if it is not quantized, as vectors and
        embeddings usually are not.

        Raises ModelFileError if the weight has another shape.
        """
        if self.quantization is None or len(shape) < 2 or operand.rpartition(".")[2] != "weight":
            return None
        layer = name.rpartition(".")[0]
        if self.family.architecture.experts == "packed transposed" and (matrix := matrix_of(operand)) is not None:
            layer = self._block(matrix.tensor)
            weight = self.quantization.weight(Layer(layer, self._taken, self.location, "_"))
        elif NUMBER in name:
            weight = stacked_weights([self._layer(layer.replace(NUMBER, str(expert))) for expert in range(shape[0])], self.quantization)
        else:
            weight = self.quantization.weight(self._layer(layer))
        if weight is not None and weight.shape != shape:
            raise self.error(f"the weights of {layer!r} are {list(weight.shape)} instead of {list(shape)}", MISMATCH)
        return weight

    def _layer(self, name: str) -> Layer:
        return Layer(name, self._taken, self.location)

    def _taken(self, name: str) -> DataAttr | None:
        """A tensor of the folder by its name, marked as read; None if there is none."""
        source = self._names.get(name)
        if source is None:
            return None
        self._read.add(source)
        return self.tensors[source]

    def tensor(self, name: str, shape: tuple[int, ...]) -> DataAttr:
        """The tensor of a name, marked as read.

        Raises ModelFileError if it is missing or has another shape, dimensions of 1 apart.
        """
        source = self._names.get(name)
        if source is None:
            raise self.error(
                f"the tensor {name!r} is missing", did_you_mean(name, self._names, "are all files of the model in the folder?")
            )
        self._read.add(source)
        data = self.tensors[source]
        if data.shape == shape:
            return data
        if [size for size in data.shape if size != 1] != [size for size in shape if size != 1]:
            raise self.error(f"the tensor {name!r} is {list(data.shape)} instead of {list(shape)}", MISMATCH)
        return DataAttr.of(data.values.reshape(shape), data.element)

    def has_own_head(self) -> bool:
        """Whether the folder has a matrix of the logits that differs from the table of the embeddings.

        Transformers 5 does not tie them then, whatever config.json says.
        """
        names = [self._names.get(self.name(f"{operand}.weight")) for operand in ("embedding", "head")]
        both = [self.tensors[name] for name in names if name is not None]
        if len(both) < 2 or names[0] == names[1]:
            return False
        return not are_equal(*both)

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the weights."""
        return ModelFileError(reason, location=self.location, hint=hint)

    def check_all_read(self) -> None:
        """Raises ModelFileError for tensors that no operand has read, unless they have no effect."""
        unread = [name for name in self._unread() if not self._is_ignored(name)]
        if unread:
            listed = ", ".join(sorted(unread)[:LISTED]) + (f", … {len(unread)} in all" if len(unread) > LISTED else "")
            hint = "the record of the family does not have what they are for; moir cannot tell what the model computes"
            raise self.error(f"{len(unread)} tensors have no place in a model of {self.family.architecture.name}: {listed}", hint)

    def _unread(self) -> Iterator[str]:
        return (name for name, source in self._names.items() if source not in self._read)

    def _is_ignored(self, name: str) -> bool:
        if self.quantization is not None and name.rpartition(".")[2] in UNREAD:
            return True
        if self.keys.is_part and not self._is_of_language_model(name):
            return True
        ignored = [*self.family.ignored_tensors, *self._further_layers()]
        if self.keys.flag(self.family.key("is_tied"), default=True):
            # An equal copy of the embeddings.
            ignored += [f"{self.family.tensors[each]}.weight" for each in ("head",) if each in self.family.tensors]
        return any(re.fullmatch(re.escape(each).replace(r"\{\}", r"\d+").replace(r"\*", ".*"), name) for each in ignored)

    def _is_of_language_model(self, name: str) -> bool:
        """Whether a tensor of a multimodal checkpoint belongs to the language model, judged by its name."""
        outer = [each for each in self.family.tensors.values() if name.startswith(f"{each}.")]
        return bool(outer) or name.startswith(self.family.layer.partition("{}")[0])

    def _further_layers(self) -> list[str]:
        """The names of the tensors of layers for multi-token prediction, which follow the last layer of the model."""
        if not self.family.further_layers:
            return []
        count = self.keys.integer(self.family.further_layers) if self.keys.has(self.family.further_layers) else 0
        first = self.keys.integer(self.family.key("layers"))
        return [f"{self.family.layer.format(first + each)}.*" for each in range(min(count, FURTHER))]
