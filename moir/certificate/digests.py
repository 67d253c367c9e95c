"""Digests (SHA-256) of files, constants and pieces: equal pieces have equal digests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import file_digest, sha256
from pathlib import Path

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation, SSAValue

from moir.certificate.pieces import Piece
from moir.dialects.data import DataAttr
from moir.dialects.large_arrays import pieces


def digest_of_file(path: Path) -> str:
    """The digest of a file's content. Raises OSError."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def digest_of_files(folder: Path) -> str:
    """The digest of the names and contents of all files in a folder, without Python's caches. Raises OSError."""
    names = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sha256("".join(f"{name.as_posix()}\0{digest_of_file(folder / name)}\n" for name in names).encode()).hexdigest()


class Digests:
    """The digests of constants and pieces. A constant is read once, in blocks, and an attribute printed once."""

    def __init__(self) -> None:
        self._constants: dict[DataAttr, str] = {}
        self._texts: dict[Attribute, str] = {}

    def constant(self, data: DataAttr) -> str:
        """The digest of the element type, shape and bytes of a constant; of element type and shape alone if its values
        were left out of a text.
        """
        if data not in self._constants:
            digest = sha256(f"{data.element}{list(data.shape)}{data.data.key}\0".encode())
            values = data.data.values
            if values is not None and (values.dtype == object or values.dtype.kind in "SU"):
                digest.update(data.contiguous_bytes())
            elif values is not None:
                for block in pieces(values):
                    digest.update(block.view("u1").data)
            self._constants[data] = digest.hexdigest()
        return self._constants[data]

    def piece(self, piece: Piece) -> str:
        """The digest of both sides of a piece: operations, attributes, types, constants, and connections.

        Names and locations do not matter.
        """
        source = {cut.source: index for index, cut in enumerate(piece.inputs)}
        target = {cut.value: index for index, cut in enumerate(piece.inputs)}
        sides = self._side(piece.nodes, source, piece.cut.source), self._side(piece.operations, target, piece.cut.value)
        return sha256("\n=>\n".join(sides).encode(errors="surrogatepass")).hexdigest()

    def _side(self, operations: Sequence[Operation], inputs: Mapping[SSAValue, int], result: SSAValue) -> str:
        numbers = {value: f"input {index}" for value, index in inputs.items()}
        lines = [f"input {index}: {self._text(value.type)}" for value, index in inputs.items()]
        for op in operations:
            lines += self._lines(op, numbers)
        return "\n".join([*lines, numbers.get(result, "")])

    def _lines(self, op: Operation, numbers: dict[SSAValue, str]) -> Iterator[str]:
        """Yields an operation as text, and the operations of its bodies.

        Args:
            op: the operation.
            numbers: the names of values in the text; the names of its results and of values in its bodies are added.
        """
        for value in op.operands:
            # A value from outside of the piece that only this side reads: the other one has folded a shape.
            numbers.setdefault(value, f"other {len(numbers)}: {self._text(value.type)}")
        operands = ", ".join(numbers[value] for value in op.operands)
        properties = ", ".join(f"{name} = {self._attribute(value)}" for name, value in sorted(op.properties.items()))
        yield f"{op.name}({operands}) {{{properties}}} : {', '.join(self._text(value.type) for value in op.results)}"
        for region in op.regions:
            for block in region.blocks:
                numbers.update((value, f"argument {len(numbers)}.{index}") for index, value in enumerate(block.args))
                yield f"body({', '.join(self._text(value.type) for value in block.args)})"
                for inner in block.ops:
                    yield from self._lines(inner, numbers)
        numbers.update({value: f"{len(numbers)}.{index}" for index, value in enumerate(op.results)})

    def _attribute(self, value: Attribute) -> str:
        match value:
            case DataAttr():
                return self.constant(value)
            case ArrayAttr():
                return f"[{', '.join(map(self._attribute, value))}]"
            case DictionaryAttr():
                return f"{{{', '.join(f'{name}: {self._attribute(each)}' for name, each in sorted(value.data.items()))}}}"
            case _:
                return self._text(value)

    def _text(self, value: Attribute) -> str:
        text = self._texts.get(value)
        if text is None:
            text = self._texts[value] = str(value)
        return text
