"""The judgement of all pieces of a conversion, one at a time, equal ones once."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from moir.certificate.digests import Digests
from moir.certificate.judging import Judgement, PieceExecution, Request, constant_data, unjudged_reason
from moir.certificate.pieces import Cut, Cutting, Piece, uncovered
from moir.certificate.recorded_conversion import RecordedConversion
from moir.certificate.records import CertifiedPiece
from moir.certificate.reference_choice import ChosenReference
from moir.dialects.moir import is_none
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter

BATCH, BATCH_BYTES = 32, 64 << 20
"""The most pieces that are executed together, and the bytes of weights after which a batch is full."""

NAMES_SHOWN = 64
"""The most nodes, operations or rewrites of a piece that a certificate names."""


class Examination:
    """The examination of a conversion.

    Args:
        conversion: the conversion.
        reference: computes the tensors of the model.
    """

    def __init__(self, conversion: RecordedConversion, reference: ChosenReference) -> None:
        self._conversion = conversion
        self._reference = reference
        self._execution = PieceExecution(conversion.module, conversion.tolerance)
        self._digests = Digests()
        self._cutting = Cutting(reference.cuts, reference.source, conversion.module)
        self._digests = Digests()
        self._done: dict[Cut, tuple[Piece, CertifiedPiece]] = {}
        self._known: dict[str, tuple[str, Judgement]] = {}
        """Judgements by the digests of pieces, with the tensor of the piece that was judged."""
        self._batch: dict[str, Request] = {}
        """The pieces that are to be executed together, by their digests."""
        self._followers: dict[str, list[Piece]] = {}
        """Pieces that are equal to one of the batch, by their digest."""

    def certified(self) -> list[CertifiedPiece]:
        """The pieces of the conversion with their judgements, in the order of the IR."""
        cuts = [cut for cut in self._reference.cuts if not isinstance(cut.value.owner, Parameter)]
        order = {cut: index for index, cut in enumerate(cuts)}
        for cut in cuts:
            if not self._is_constant_of_model(cut):
                self._cutting.drop(cut)
        for index, cut in enumerate(cuts):
            self._examine(cut, cuts[index:])
        while self._batch:
            self._execute()
        rest = uncovered(self._conversion.module, [piece for piece, _ in self._done.values()])
        pieces = [self._done[cut][1] for cut in sorted(self._done, key=order.__getitem__)]
        return [*pieces, *map(self._uncovered, rest)]

    def _is_constant_of_model(self, cut: Cut) -> bool:
        """False for a constant of the IR that has the name of one of the model and another value; else True."""
        source, target = constant_data(cut)
        return source is None or target is None or bool(cut.outputs) or self._digests.constant(source) == self._digests.constant(target)

    def _examine(self, cut: Cut, upcoming: Sequence[Cut]) -> None:
        """Judge the piece of a cut, or put it into the batch; a tensor that is none of the model is no cut any more."""
        if not self._cutting.has(cut):
            return None
        piece = self._cutting.piece(cut)
        source, target = constant_data(cut)
        if target is not None and source is not None and self._is_constant_of_model(cut) and not cut.outputs:
            return self._finish(piece, Judgement("exact"))
        if reason := unjudged_reason(piece):
            return self._finish(piece, Judgement("not judged", reason))
        digest = self._digests.piece(piece)
        if digest in self._known:
            if self._reads_batch(piece):
                self._execute()
                return self._examine(cut, upcoming)
            first, judgement = self._known[digest]
            return self._finish(piece, judgement, digest, first)
        if digest in self._batch:
            return self._followers.setdefault(digest, []).append(piece)
        if self._reference.values is None:
            return self._finish(piece, Judgement("not judged", self._reference.missing), digest)
        needed = (*piece.inputs, cut)
        arrays = self._reference.values.of(needed, upcoming)
        absent = [each.name for each in needed if each.name not in arrays]
        if cut.name in absent and not cut.outputs:
            return self._cutting.drop(cut)
        if absent:
            return self._finish(piece, Judgement("not judged", f"the reference does not have the values of {absent[0]}"), digest)
        exact = self._execution.judged_exactly(piece, arrays, arrays[cut.name])
        if exact is not None and self._reads_batch(piece):
            self._execute()
            return self._examine(cut, upcoming)
        if exact is not None:
            return self._finish(piece, exact, digest)
        if target is not None and not cut.outputs:
            return self._cutting.drop(cut)
        self._batch[digest] = Request(piece, digest, arrays, arrays[cut.name])
        if len(self._batch) >= BATCH or sum(map(_weights, self._batch.values())) > BATCH_BYTES:
            self._execute()
        return None

    def _reads_batch(self, piece: Piece) -> bool:
        """Whether a piece reads a tensor of the batch, which may turn out to be no cut."""
        equal = [each for followers in self._followers.values() for each in followers]
        return not {each.cut for each in (*(request.piece for request in self._batch.values()), *equal)}.isdisjoint(piece.inputs)

    def _execute(self) -> None:
        """Execute the batch.

        What reads a tensor that turns out to be in another layout is another piece than was assumed: it is examined
        again.
        """
        requests, followers = list(self._batch.values()), self._followers
        self._batch, self._followers = {}, {}
        again: list[Cut] = []
        unsettled: set[Cut] = set()
        for request, judgement in zip(requests, self._execution.executed_together(requests), strict=True):
            equal = followers.get(request.digest, [])
            if judgement is not None and unsettled.isdisjoint(request.piece.inputs):
                self._finish(request.piece, judgement, request.digest)
            for piece in equal if request.piece.cut in self._done else (request.piece, *equal):
                if not unsettled.isdisjoint(piece.inputs) or (judgement is not None and request.digest not in self._known):
                    again.append(piece.cut)
                    unsettled.add(piece.cut)
                elif judgement is None:
                    self._cutting.drop(piece.cut)
                    unsettled.add(piece.cut)
                else:
                    self._finish(piece, judgement, request.digest, request.piece.cut.name)
        for cut in again:
            self._examine(cut, (cut,))

    def _finish(self, piece: Piece, judgement: Judgement, digest: str = "", equal_to: str = "") -> None:
        if digest and judgement.justification in ("exact", "executed"):
            self._known.setdefault(digest, (piece.cut.name, judgement))
        self._done[piece.cut] = piece, self._described(piece, judgement, digest, equal_to)

    def _described(self, piece: Piece, judgement: Judgement, digest: str = "", equal_to: str = "") -> CertifiedPiece:
        apart = judgement.difference
        operations = [op for op in piece.operations if not isinstance(op, Constant) and not is_none(op)] or piece.operations
        nodes = [op for op in piece.nodes if not isinstance(op, Constant) and not is_none(op)] or piece.nodes
        return CertifiedPiece(
            tensor=piece.cut.name,
            inputs=tuple(cut.name for cut in piece.inputs),
            nodes=_texts(nodes),
            operations=_texts(operations),
            rules=tuple(self._conversion.touched.rules(piece.operations)[:NAMES_SHOWN]),
            justification=judgement.justification,
            reason=judgement.reason,
            error=None if apart is None else float(f"{apart.error:.2g}"),
            tolerance=None if apart is None else apart.limit,
            equal_to=equal_to,
            digest=digest,
        )

    def _uncovered(self, op: Operation) -> CertifiedPiece:
        """An operation that no tensor of the model depends on, as a piece that is not judged."""
        reason = "it writes a state" if not op.results or op.name.endswith(".Assign") else "no tensor of the model depends on it"
        return CertifiedPiece(name_of(op) or op.name, (), (), _texts([op]), (), "not judged", reason)


def _weights(request: Request) -> int:
    """The bytes of the constants of a piece."""
    return sum(op.value.nbytes for op in request.piece.operations if isinstance(op, Constant))


def _texts(operations: Sequence[Operation]) -> tuple[str, ...]:
    """Operations as texts: what they are, and the names of their nodes."""
    texts = [f"{op.name} {name}" if (name := name_of(op)) else op.name for op in operations[:NAMES_SHOWN]]
    return (*texts, *([f"… {len(operations)} in all"] if len(operations) > NAMES_SHOWN else []))
