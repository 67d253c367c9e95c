"""What reads the names of kinds in a file."""

from __future__ import annotations

import pytest

from scripts.kind_readers import Reader, Readers, SourceFile

KINDS = frozenset(("Add", "Sub", "Relu"))


def readers_of(*texts: str, path: str = "lowering/onnx/file.py") -> dict[str, set[str]]:
    """The names of the readers of each kind that the first of some files names."""
    files = [SourceFile(path if number == 0 else f"lowering/onnx/{number}.py", text) for number, text in enumerate(texts)]
    found: dict[str, set[str]] = {}
    for each in Readers(files).namings(files[0], KINDS):
        found.setdefault(each.word, set()).update(reader.name for reader in each.readers)
    return found


@pytest.mark.parametrize(
    ("text", "reader"),
    [
        ('@onnx.lowers("Add", since=7)\ndef add(op): ...', Reader.REGISTRATION),
        ('onnx.lowers_each({"Add": lambda op, x, y: op.Add(x, y)})', Reader.REGISTRATION),
        ('onnx.lowers_each({"Add Sub": lambda op, x, y: op.Add(x, y)})', Reader.REGISTRATION),
        ('TABLE = {"Add": 1}\nfor kind in TABLE:\n    onnx.lowers(kind)(make(kind))', Reader.REGISTRATION),
        ('is_sum = op.KIND == "Add"', Reader.OPERATION),
        ('MOVING = frozenset(("Add", "Sub"))\ndef f(op): return op.KIND in MOVING', Reader.OPERATION),
        ('MOVING = frozenset(("Add", "Sub"))\ndef f(op):\n    name = op.KIND\n    return name in MOVING', Reader.OPERATION),
        ('ALL = ("Add", "Sub")\nMORE = {*ALL, "X"}\ndef f(node): return node.kind in MORE', Reader.OPERATION),
        ('NAMES = ("Add", "Sub")\nfind(NAMES)\nreturned = lambda: NAMES\nself.names = NAMES', Reader.OPERATION),
        ('match op.KIND:\n    case "Add": pass', Reader.OPERATION),
        ('FUNCTIONS = {"Add": 1}\ndef f(node): return FUNCTIONS[node.text("activation")]', Reader.VALUE),
        ('FUNCTIONS = {"Add": 1}\ndef f(node): return FUNCTIONS.get(node.text("activation"))', Reader.VALUE),
        ('ENDS = {"Add": 1}\ndef f(op): return ENDS[op.KIND.removeprefix("Assign")]', Reader.VALUE),
        ('VIEW = FrameworkView(names={"Add": "Eltwise"})', Reader.INTERFACE),
    ],
)
def test_the_reader_of_a_name(text: str, reader: Reader) -> None:
    assert readers_of(text)["Add"] == {reader.name}


def test_a_node_of_a_file_is_no_operation() -> None:
    assert readers_of('is_sum = node.op == "Add"', path="frontends/onnx/graph.py")["Add"] == {"FILE"}
    assert readers_of('is_sum = op.KIND == "Add"', path="frontends/onnx/graph.py")["Add"] == {"OPERATION"}


def test_a_collection_is_read_in_the_files_that_import_it() -> None:
    other = "from moir.lowering.onnx.file import MOVING\nis_moving = op.KIND in MOVING"
    assert readers_of('MOVING = ("Add", "Sub")', other)["Add"] == {"OPERATION"}


@pytest.mark.parametrize(
    "text", ['"""Add"""', 'node.integer("Add")', 'build(kind="Add")', 'f"Add {x}"', 'KINDS = (f"Assign{x}" for x in ("Add",))']
)
def test_a_text_that_nothing_reads_as_a_kind(text: str) -> None:
    assert readers_of(text) == {}


def test_a_text_is_a_table_if_most_words_are_kinds() -> None:
    assert set(readers_of('A = "Add Sub, Relu"\nB = "Add one to it"\ndef f(op): return op.KIND in A.split()')) == {"Add", "Sub", "Relu"}
