"""The records of a certificate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from moir.support.records import Record

Justification: TypeAlias = Literal["exact", "proved", "executed", "not judged", "wrong"]
"""Why a piece of the IR is judged to compute the same as the model, or that it is not.

exact: its values are equal bit by bit. proved: all rewrites of the lowered piece are proved, and it was executed, too.
executed: on tensors of the model its result was within the tolerance. not judged. wrong: its result was another one.
"""

JUSTIFICATIONS: tuple[Justification, ...] = ("exact", "proved", "executed", "not judged", "wrong")


class CertifiedPiece(Record):
    """What computes one tensor of the model.

    Args:
        tensor: its name.
        inputs: the tensors of the model from which it is computed.
        nodes: the nodes of the model: operation and name.
        operations: the operations of the IR: operation and name.
        rules: the rewrites that touched the nodes during the conversion, as `pass: pattern`.
        justification: see `Justification`.
        reason: why it was not judged or what is wrong; empty otherwise.
        error: the difference of its results, in the measure of their element type; None if nothing was executed.
        tolerance: the largest difference allowed; None if nothing was executed.
        equal_to: the tensor of an equal piece that was judged in its place; empty if it was judged itself.
        digest: the digest of both sides.
    """

    tensor: str
    inputs: tuple[str, ...]
    nodes: tuple[str, ...]
    operations: tuple[str, ...]
    rules: tuple[str, ...]
    justification: Justification
    reason: str = ""
    error: float | None = None
    tolerance: float | None = None
    equal_to: str = ""
    digest: str = ""


class Certificate(Record):
    """A certificate for a conversion.

    Args:
        moir: the version of moir.
        model: the path of the model, relative to the folder of the certificate.
        options: the options of the conversion that are not at their defaults, as in a configuration.
        passes: the pipeline; None for the default one.
        source: the digests of the files that were read, by path relative to the folder of the model.
        extensions: the digests of the extensions, by the path or name that the options have.
        ir: the digests of the files of the IR, by path relative to the folder of the certificate.
        reference: what computed the tensors of the model.
        runtime: what executed the pieces of the IR.
        seed: the seed of the random inputs.
        notes: what the certificate does not say.
        pieces: the pieces.
    """

    moir: str
    model: str
    options: Mapping[str, Any]
    passes: str | None
    source: Mapping[str, str]
    extensions: Mapping[str, str]
    ir: Mapping[str, str]
    reference: str
    runtime: str
    seed: int
    notes: tuple[str, ...]
    pieces: Sequence[CertifiedPiece]

    @property
    def counts(self) -> Mapping[Justification, int]:
        """The number of pieces with each justification."""
        counts = Counter(piece.justification for piece in self.pieces)
        return {each: counts[each] for each in JUSTIFICATIONS}

    @property
    def wrong(self) -> list[CertifiedPiece]:
        """The pieces that are wrong."""
        return [piece for piece in self.pieces if piece.justification == "wrong"]
