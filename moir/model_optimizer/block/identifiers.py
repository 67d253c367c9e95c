"""Ids of nodes: unique strings that stay the same while a graph exists, even where a name changes."""

from __future__ import annotations

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.dialects.names import name_of
from moir.errors import ConversionError
from moir.model_optimizer.block.edges import Vertex
from moir.model_optimizer.block.sentinels import nodes_of


class Identifiers:
    """The ids of the operations and tensors of a block.

    The id of an operation is its name; a number is added where the name is not unique, and an operation without a name
    has its kind instead.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self._ids: dict[Vertex, str] = {}
        self._subjects: dict[str, Vertex] = {}
        self._counts: dict[str, int] = {}
        unnamed: list[Operation] = []
        for op in nodes_of(block):
            name = name_of(op)
            if name and name not in self._subjects:
                self._assign(op, name)
            else:
                unnamed.append(op)
        for op in unnamed:
            self.add(op)

    def _assign(self, subject: Vertex, id_: str) -> str:
        self._ids[subject] = id_
        self._subjects[id_] = subject
        return id_

    def unique(self, prefix: str) -> str:
        """The prefix if no node has it as its id, else the prefix and the lowest number that makes it unique."""
        if prefix and not self._is_taken(prefix):
            return prefix
        number = self._counts.get(prefix, 0)
        while self._is_taken(f"{prefix}{number}"):
            number += 1
        self._counts[prefix] = number
        return f"{prefix}{number}"

    def _is_taken(self, id_: str) -> bool:
        present = self._subjects.get(id_)
        owner = present.owner if isinstance(present, SSAValue) else present
        return isinstance(owner, Operation) and owner.parent is not None

    def add(self, op: Operation, id_: str | None = None) -> str:
        """Give an operation an id: the one proposed, its name, or its kind, made unique."""
        wanted = id_ or name_of(op) or op.name.rpartition(".")[2]
        return self._assign(op, self.unique(wanted))

    def rename(self, subject: Vertex, id_: str) -> None:
        """Replace the id of an operation or a tensor by `id_`, which the caller has made unique."""
        if self._subjects.get(self._ids.get(subject, "")) is subject:
            del self._subjects[self._ids[subject]]
        self._assign(subject, id_)

    def of(self, subject: Vertex) -> str:
        """The id of an operation or a tensor. An operation keeps it when it is erased."""
        identifier = self._ids.get(subject)
        if identifier is not None:
            return identifier
        if isinstance(subject, Operation):
            return self.add(subject)
        producer = subject.owner
        index = subject.index if isinstance(subject, OpResult) else 0
        base = self.of(producer) if isinstance(producer, Operation) else "argument"
        return self._assign(subject, self.unique(f"{base}/data_{index}"))

    def subject(self, id_: str) -> Vertex | None:
        """The operation or tensor of an id, None if there is none in the block now."""
        present = self._subjects.get(id_)
        if present is None and "/data_" in id_:
            self._number_tensors()
            present = self._subjects.get(id_)
        owner = present.owner if isinstance(present, SSAValue) else present
        return present if isinstance(owner, Operation) and owner.parent is self.block else None

    def _number_tensors(self) -> None:
        for op in nodes_of(self.block):
            for result in op.results:
                self.of(result)

    def by_name(self, name: str) -> list[Operation]:
        """The operations that have a name."""
        return [op for op in nodes_of(self.block) if name_of(op) == name or (name_of(op) is None and self.of(op) == name)]

    def require(self, id_: object) -> Vertex:
        """The operation or tensor of an id. Raises ConversionError if there is none."""
        subject = self.subject(id_) if isinstance(id_, str) else None
        if subject is None:
            raise ConversionError(f"the graph has no node {id_!r}")
        return subject
