"""The judgement of all pieces of a conversion; equal pieces are judged once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation

from moir.certificate.digests import Digests
from moir.certificate.judging import Judgement, PieceExecution, Request, constant_data, unjudged_reason
from moir.certificate.lowered_cuts import is_assignment, state_of
from moir.certificate.pieces import Cut, Cutting, Piece, uncovered
from moir.certificate.proved_rewrites import unproved
from moir.certificate.recorded_conversion import RecordedConversion
from moir.certificate.records import CertifiedPiece
from moir.certificate.reference_choice import ChosenReference
from moir.dialects.moir import is_none
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.support.records import Record

BATCH, BATCH_BYTES = 32, 64 << 20
"""The maximum number of pieces that are executed together, and the bytes of weights and tensors from which on a batch
is executed.
"""

NAMES_SHOWN = 64
"""The maximum number of nodes, operations or rewrites of a piece that a certificate lists."""


class Pending(Record):
    """A piece whose judgement depends on the execution of a batch.

    Args:
        piece: the piece.
        digest: its digest, by which the batch identifies it.
        judgement: its judgement, if the tensors that it reads turn out to be cuts; None if the batch executes it.
        equal_to: the tensor of an equal piece that was judged; empty if there is none.
    """

    piece: Piece
    digest: str
    judgement: Judgement | None = None
    equal_to: str = ""


class Examination:
    """Examines a conversion: judges its pieces one at a time, equal ones once.

    Args:
        conversion: the conversion.
        reference: computes the tensors of the model.
    """

    def __init__(self, conversion: RecordedConversion, reference: ChosenReference) -> None:
        self._conversion = conversion
        self._reference = reference
        self._execution = PieceExecution(conversion.module, conversion.tolerance)
        self._cuts = [cut for cut in reference.cuts if not isinstance(cut.value.owner, Parameter)]
        self._order = {cut: index for index, cut in enumerate(self._cuts)}
        self._cutting = Cutting(reference.cuts, reference.source, conversion.module)
        self._digests = Digests()
        self._done: dict[Cut, tuple[Piece, CertifiedPiece]] = {}
        self._known: dict[str, tuple[str, Judgement]] = {}
        """Judgements by the digests of pieces, with the tensor of the piece that was judged."""
        self._batch: dict[str, Request] = {}
        """The pieces that are to be executed together, by their digests."""
        self._pending: dict[Cut, Pending] = {}
        """The cuts whose judgement waits for the batch, in the order of their examination: of pieces in the batch,
        of pieces equal to one of these, and of pieces that read a tensor of one.
        """
        self._assigned = {state_of(op): op.operands[0] for op in reference.source.walk() if is_assignment(op)}
        """The values of the model that are assigned to its states."""

    def certified(self) -> list[CertifiedPiece]:
        """The verdict on each tensor that model and IR have in common, in the order of the IR.

        A verdict says whether the operations of the IR that compute the tensor do the same as those of the model.
        Operations of the IR on which no such tensor depends follow, each as a `CertifiedPiece` of its own.
        """
        for cut in self._cuts:
            if not self._is_constant_of_model(cut):
                self._cutting.drop(cut)
        for cut in self._cuts:
            self._examine(cut)
        while self._batch:
            self._execute()
        rest = uncovered(self._conversion.module, [piece for piece, _ in self._done.values()])
        pieces = [self._done[cut][1] for cut in sorted(self._done, key=self._order.__getitem__)]
        return [*pieces, *map(self._uncovered, rest)]

    def _is_constant_of_model(self, cut: Cut) -> bool:
        """Whether a cut may be judged as a constant: False if model and IR both have a constant of this name, with
        other values.

        Always True for the model's outputs and for computed values.
        """
        source, target = constant_data(cut)
        return source is None or target is None or bool(cut.outputs) or self._digests.constant(source) == self._digests.constant(target)

    def _examine(self, cut: Cut) -> None:
        """Judge the piece that ends in a cut, or put it into the batch. Does nothing if the cut has been removed."""
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
            first, judgement = self._known[digest]
            return self._settle(Pending(piece, digest, judgement, first))
        if digest in self._batch:
            self._pending[cut] = Pending(piece, digest)
            return None
        if self._reference.values is None:
            return self._finish(piece, Judgement("not judged", self._reference.missing), digest)
        needed = (*piece.inputs, cut)
        arrays = self._reference.values.of(needed, self._following(cut))
        absent = [each.name for each in needed if each.name not in arrays]
        if cut.name in absent and not cut.outputs:
            return self._cutting.drop(cut)
        if absent:
            return self._finish(piece, Judgement("not judged", f"the reference does not have the values of {absent[0]}"), digest)
        exact = self._execution.judged_exactly(piece, arrays, arrays[cut.name])
        if exact is not None:
            return self._settle(Pending(piece, digest, exact))
        if target is not None and not cut.outputs:
            return self._cutting.drop(cut)
        self._pending[cut] = Pending(piece, digest)
        self._batch[digest] = Request(piece, digest, arrays, arrays[cut.name])
        if len(self._batch) >= BATCH or sum(map(_bytes, self._batch.values())) > BATCH_BYTES:
            self._execute()
        return None

    def _settle(self, pending: Pending) -> None:
        """Record the verdict on a piece.

        If it reads a tensor of the batch, which may turn out not to be a cut, this waits until the batch is executed.
        """
        if self._pending.keys().isdisjoint(pending.piece.inputs):
            self._conclude(pending)
        else:
            self._pending[pending.piece.cut] = pending

    def _conclude(self, pending: Pending) -> None:
        assert pending.judgement is not None
        self._finish(pending.piece, pending.judgement, pending.digest, pending.equal_to)

    def _following(self, cut: Cut) -> Iterator[Cut]:
        """Yields the cuts from `cut` on, in order."""
        return (self._cuts[index] for index in range(self._order[cut], len(self._cuts)))

    def _execute(self) -> None:
        """Execute the batch.

        A tensor may turn out to be in another layout, so that it is not a cut; then the pieces that read it are formed
        and examined again.
        """
        requests, waiting = list(self._batch.values()), list(self._pending.values())
        self._batch, self._pending = {}, {}
        judgements = dict(zip([each.digest for each in requests], self._execution.executed_together(requests), strict=True))
        judged = {each.digest: each.piece.cut for each in requests}
        again: list[Cut] = []
        unsettled: set[Cut] = set()
        for pending in waiting:
            cut, judgement = pending.piece.cut, pending.judgement or judgements[pending.digest]
            first = judged.get(pending.digest, cut)
            if not unsettled.isdisjoint(pending.piece.inputs) or (pending.judgement is None and judgement is not None and first in again):
                again.append(cut)
                unsettled.add(cut)
            elif judgement is None:
                self._cutting.drop(cut)
                unsettled.add(cut)
            else:
                equal_to = pending.equal_to or (first.name if pending.judgement is None and first is not cut else "")
                self._conclude(pending.with_fields(judgement=judgement, equal_to=equal_to))
        for cut in again:
            self._examine(cut)

    def _finish(self, piece: Piece, judgement: Judgement, digest: str = "", equal_to: str = "") -> None:
        if digest and judgement.justification in ("exact", "executed"):
            self._known.setdefault(digest, (piece.cut.name, judgement))
        self._done[piece.cut] = piece, self._described(piece, self._with_proofs(piece, judgement), digest, equal_to)

    def _with_proofs(self, piece: Piece, judgement: Judgement) -> Judgement:
        """A judgement, extended by whether all rewrites of the lowered piece are proved.

        A piece that was executed becomes "proved"; one that could not be executed does if the reference is the lowered
        model.
        """
        is_executed = judgement.justification == "executed"
        if not is_executed and not (judgement.justification == "not judged" and self._reference.is_lowered):
            return judgement
        rewrites = self._conversion.touched.rules(piece.operations, of_lowering=False)
        if not rewrites or unproved(rewrites):
            return judgement
        reason = judgement.reason if is_executed else f"not executed: {judgement.reason}"
        return judgement.with_fields(justification="proved", reason=reason)

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
        if not is_assignment(op):
            return CertifiedPiece(name_of(op) or op.name, (), (), _texts([op]), (), "not judged", "no tensor of the model depends on it")
        state, cut = state_of(op), self._cutting.at(op.operands[0])
        if cut is None or self._assigned.get(state) is not cut.source:
            return CertifiedPiece(state, (), (), _texts([op]), (), "not judged", "it writes a state")
        return CertifiedPiece(state, (cut.name,), _texts([op]), _texts([op]), (), "exact")


def _bytes(request: Request) -> int:
    """The bytes that executing a piece needs: its constants, its inputs, and its expected result."""
    weights = sum(op.value.nbytes for op in request.piece.operations if isinstance(op, Constant))
    return weights + request.expected.nbytes + sum(request.inputs[cut.name].nbytes for cut in request.piece.inputs)


def _texts(operations: Sequence[Operation]) -> tuple[str, ...]:
    """Texts for operations: the name of each, and the name of its node."""
    texts = [f"{op.name} {name}" if (name := name_of(op)) else op.name for op in operations[:NAMES_SHOWN]]
    return (*texts, *([f"… {len(operations)} in all"] if len(operations) > NAMES_SHOWN else []))
