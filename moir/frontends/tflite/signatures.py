"""Signatures: which subgraph is the model, and the names of its inputs and outputs.

A file has a signature for each function that can be called. Files without signatures have one model, the first
subgraph.
"""

from __future__ import annotations

from typing import Any

from moir.errors import UsageError
from moir.frontends.tflite.flatbuffer import ModelFile, text
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

MAIN = 0
"""The index of the subgraph that is the model unless a signature is chosen."""


class Signature(Record):
    """The subgraph of a file that is converted, with the names of its inputs and outputs.

    Args:
        subgraph: the index of its subgraph.
        inputs: the names that the signature gives inputs, by the indices of their tensors.
        outputs: the names that it gives outputs, likewise.
        others: the names of the signatures of other subgraphs.
    """

    subgraph: int
    inputs: dict[int, list[str]]
    outputs: dict[int, list[str]]
    others: list[str]


def signature_names(file: ModelFile) -> list[str]:
    """The names of the signatures of a file."""
    with file.damage("a signature"):
        return [text(each.SignatureKey()) for each in file.signatures]


def chosen_signature(file: ModelFile, name: str | None = None) -> Signature:
    """The signature with a name; without a name the signature of the first subgraph, or a nameless one if that has
    none.

    Raises UsageError, with the names that there are, for a name that no signature has.
    """
    with file.damage("a signature"):
        signatures = [(text(each.SignatureKey()), each) for each in file.signatures]
        signature = next((each for key, each in signatures if (each.SubgraphIndex() == MAIN if name is None else key == name)), None)
        names = [key for key, _ in signatures]
        if name is not None and signature is None:
            reason = f"the model has no signature {name!r}"
            there = f"its signatures: {', '.join(names)}" if names else "it has none; leave out the option"
            raise UsageError(reason, location=str(file.path), hint=did_you_mean(name, names, there))
        subgraph: int = MAIN if signature is None else signature.SubgraphIndex()
        if subgraph >= len(file.subgraphs):
            raise file.error(f"the signature {name!r} is of subgraph {subgraph}, which does not exist", "the file is damaged")
        others = [key for key, each in signatures if each.SubgraphIndex() != subgraph]
        if signature is None:
            return Signature(subgraph, {}, {}, others)
        names_of = [_names(file, length(), get) for length, get in _lists(signature)]
    return Signature(subgraph, names_of[0], names_of[1], others)


def _lists(signature: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    return (signature.InputsLength, signature.Inputs), (signature.OutputsLength, signature.Outputs)


def _names(file: ModelFile, length: int, get: Any) -> dict[int, list[str]]:
    """Names by the index of the tensor that they belong to, from a list with `length` entries, entry i of which is
    `get(i)`.
    """
    names: dict[int, list[str]] = {}
    for entry in file.vector(length, get):
        names.setdefault(entry.TensorIndex(), []).append(text(entry.Name()))
    return names
