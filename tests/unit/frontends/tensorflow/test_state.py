"""The state after restore and initialization operations, and the changes of the state while the outputs are
computed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.frontends.tensorflow.execution import Execution, Restored
from moir.frontends.tensorflow.messages import message_class
from moir.frontends.tensorflow.state.assets import Assets
from moir.frontends.tensorflow.state.changes import find_state
from moir.frontends.tensorflow.state.resources import table_contents
from moir.frontends.tensorflow.tensors import TensorReader


def node(name: str, kind: str, *inputs: str, **attributes: str) -> str:
    """A node as text; attributes are texts of AttrValue."""
    operands = "".join(f' input: "{operand}"' for operand in inputs)
    values = "".join(f' attr {{ key: "{key}" value {{ {value} }} }}' for key, value in attributes.items())
    return f'name: "{name}" op: "{kind}"{operands}{values}'


def strings(name: str, *values: str) -> str:
    """A constant of strings."""
    content = "".join(f' string_val: "{value}"' for value in values)
    shape = f"tensor_shape {{ dim {{ size: {len(values)} }} }}"
    return node(name, "Const", value=f"tensor {{ dtype: DT_STRING {shape}{content} }}")


def numbers(name: str, *values: int) -> str:
    """A constant of 64-bit integers."""
    content = "".join(f" int64_val: {value}" for value in values)
    shape = f"tensor_shape {{ dim {{ size: {len(values)} }} }}"
    return node(name, "Const", value=f"tensor {{ dtype: DT_INT64 {shape}{content} }}")


def function(name: str, arguments: str, results: dict[str, str], *nodes: str, control: str = "") -> str:
    """A function as text; results are the tensors its outputs are."""
    inputs = "".join(f' input_arg {{ name: "{argument}" }}' for argument in arguments.split())
    outputs = "".join(f' output_arg {{ name: "{result}" }}' for result in results)
    returned = "".join(f' ret {{ key: "{result}" value: "{tensor}" }}' for result, tensor in results.items())
    effects = "".join(f' control_ret {{ key: "{effect}" value: "{effect}" }}' for effect in control.split())
    body = "".join(f" node_def {{ {inner} }}" for inner in nodes)
    return f'signature {{ name: "{name}"{inputs}{outputs} }}{body}{returned}{effects}'


def graph(*nodes: str, functions: tuple[str, ...] = ()) -> Any:
    """A GraphDef."""
    text = "".join(f"node {{ {part} }}\n" for part in nodes)
    text += "library {\n" + "".join(f"function {{ {part} }}\n" for part in functions) + "}"
    return text_format.Parse(text, message_class("GraphDef")())


def execute(model: Any, *roots: str, **arguments: Any) -> Execution:
    """A graph after some of its operations were run."""
    execution = Execution(model, TensorReader(Path("model.pb")).read, **arguments)
    execution.run(roots)
    return execution


VARIABLE = node("v", "VarHandleOp", shared_name='s: "v"')
CALL = {"f": 'func { name: "f" }'}


def test_restore_of_references() -> None:
    model = graph(
        node("a", "VariableV2"),
        node("b", "VariableV2"),
        strings("names", "x", "y"),
        strings("parts", "", "4 2,2"),
        node("r", "RestoreV2", "prefix", "names", "parts"),
        node("A", "Assign", "a", "r"),
        node("B", "Assign", "b", "r:1"),
        node("shard", "NoOp", "^A", "^B"),
        node("all", "NoOp", "^shard"),
        node("other", "Assign", "a", "b"),
    )
    assert execute(model, "all").variables == {("", "a"): Restored("x"), ("", "b"): Restored("y", "4 2,2")}


def test_restore_in_nested_functions() -> None:
    inner = function(
        "g",
        "prefix handle",
        {},
        strings("names", "k"),
        strings("parts", ""),
        node("r", "RestoreV2", "prefix", "names:output:0", "parts:output:0"),
        node("i", "Identity", "r:tensors:0"),
        node("assign", "AssignVariableOp", "handle", "i:output:0"),
        control="assign",
    )
    outer = function("f", "handle prefix", {}, node("call", "g", "prefix", "handle"))
    model = graph(VARIABLE, node("call", "StatefulPartitionedCall", "v", "p", **CALL), functions=(inner, outer))
    assert execute(model, "call").variables == {("", "v"): Restored("k")}


def test_names_that_are_shared() -> None:
    model = graph(VARIABLE, node("w", "VarHandleOp", shared_name='s: "v"'), numbers("c", 3), node("a", "AssignVariableOp", "w", "c"))
    value = execute(model, "a").variables["", "v"]
    assert isinstance(value, DataAttr)
    assert value.array.tolist() == [3]


def test_what_is_computed_is_unknown() -> None:
    model = graph(VARIABLE, numbers("c", 3), node("n", "Neg", "c"), node("a", "AssignVariableOp", "v", "n"), node("all", "NoOp", "^a"))
    assert execute(model, "all").variables == {("", "v"): None}


def test_recursion_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moir.frontends.tensorflow.execution.MAXIMUM_OPERATIONS", 1000)
    one = function("f", "", {"r": "a:output:0"}, node("a", "f"), node("b", "f"))
    with pytest.raises(ModelFileError, match="too often"):
        execute(graph(node("call", "f"), functions=(one,)), "call")


def test_tables() -> None:
    table = node("t", "HashTableV2", key_dtype="type: DT_STRING", value_dtype="type: DT_INT64")
    model = graph(
        table,
        strings("keys", "moss", "fern"),
        numbers("values", 4, 5),
        node("import", "LookupTableImportV2", "t", "keys", "values"),
        strings("more", "reed"),
        numbers("six", 6),
        node("insert", "LookupTableInsertV2", "t", "more", "six", "^import"),
        node("empty", "HashTableV2"),
        node("computed", "HashTableV2"),
        node("neg", "Neg", "values"),
        node("fill", "InitializeTableV2", "computed", "keys", "neg"),
        node("contradicting", "HashTableV2"),
        node("short", "InitializeTableV2", "contradicting", "keys", "six"),
    )
    contents = table_contents(model, execute(model, "import", "insert", "fill", "short"), None)
    assert list(contents) == ["t"]
    assert [value.array.tolist() for value in contents["t"].values()] == [["moss", "fern", "reed"], [4, 5, 6]]


def text_table(folder: Path, text: str, **attributes: str) -> dict[str, list[Any]]:
    """Keys and values of a table that is filled from a file."""
    (folder / "assets").mkdir(exist_ok=True)
    (folder / "assets" / "words.txt").write_bytes(text.encode())
    types = {"key_dtype": "type: DT_STRING", "value_dtype": attributes.pop("value", "type: DT_INT64")}
    model = graph(
        node("t", "HashTableV2", **types),
        strings("path", "ignored"),
        node("fill", "InitializeTableFromTextFileV2", "t", "path", **attributes),
    )
    assets = Assets(folder / "saved_model.pb", folder / "assets")
    contents = table_contents(model, execute(model, "fill", assets={"path": "words.txt"}, open_asset=assets.open), None)
    return {name: value.array.tolist() for name, value in contents["t"].items()}


WHOLE_TO_NUMBER = {"key_index": "i: -2", "value_index": "i: -1"}


@pytest.mark.parametrize(
    ("text", "attributes", "keys", "values"),
    [
        ("moss\nfern reed\n", WHOLE_TO_NUMBER, ["moss", "fern reed"], [0, 1]),
        ("moss\r\nfern", WHOLE_TO_NUMBER, ["moss", "fern"], [0, 1]),
        ("moss\nfern\nreed\n", {**WHOLE_TO_NUMBER, "vocab_size": "i: 2", "offset": "i: 5"}, ["moss", "fern"], [5, 6]),
        ("moss\t7\nfern\t-8", {"key_index": "i: 0", "value_index": "i: 1"}, ["moss", "fern"], [7, -8]),
        (
            "0.5,moss\n2,fern",
            {"key_index": "i: 1", "value_index": "i: 0", "delimiter": 's: ","', "value": "type: DT_FLOAT"},
            ["moss", "fern"],
            [0.5, 2],
        ),
        ("", WHOLE_TO_NUMBER, [], []),
    ],
)
def test_tables_from_files(tmp_path: Path, text: str, attributes: dict[str, str], keys: list[str], values: list[float]) -> None:
    assert text_table(tmp_path, text, **attributes) == {"keys": keys, "values": values}


@pytest.mark.parametrize(
    ("text", "attributes", "reason"),
    [
        ("moss\n\nfern\n", WHOLE_TO_NUMBER, "line 2: a line of the file of a hash table is empty"),
        ("moss\n", {**WHOLE_TO_NUMBER, "vocab_size": "i: 2"}, "has 2 entries, its file 1 lines"),
        ("moss\n", {"key_index": "i: 0", "value_index": "i: 1"}, "line 1: there is no column 1"),
        ("moss\tx\n", {"key_index": "i: 0", "value_index": "i: 1"}, "is not a number"),
        ("moss\t99999999999999999999\n", {"key_index": "i: 0", "value_index": "i: 1"}, "is not a number"),
    ],
)
def test_tables_from_damaged_files(tmp_path: Path, text: str, attributes: dict[str, str], reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        text_table(tmp_path, text, **attributes)


def test_assets_stay_in_the_folder(tmp_path: Path) -> None:
    model = tmp_path / "model"
    (model / "assets").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("x")
    (model / "assets" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (model / "assets" / "words.txt").write_text("x")
    assets = Assets(model / "saved_model.pb", model / "assets")
    assert assets.open("words.txt").path.name == "words.txt"
    assert assets.open("/home/somebody/words.txt").path.name == "words.txt"
    for name, reason in (
        ("../../secret.txt", "outside the folder"),
        ("", "outside the folder"),
        ("link.txt", "is a link out"),
        ("none.txt", "is missing"),
        ("/etc/passwd", "is missing"),
    ):
        with pytest.raises(ModelFileError, match=reason):
            assets.open(name)


READ = node("read", "ReadVariableOp", "v")


def stepping(*control: str) -> Any:
    """A function that writes a variable, and reads it after the nodes `control`."""
    nodes = (numbers("c", 1), node("a", "AssignVariableOp", "h", "c:output:0"), node("b", "ReadVariableOp", "h", *control))
    return function("f", "h", {"r": "b:value:0"}, *nodes, control="a")


def looping(*control: str) -> Any:
    """A body of a loop that reads a variable, and writes it after the nodes `control`."""
    nodes = (node("s", "ReadVariableOp", "h"), node("a", "AssignAddVariableOp", "h", "n", *control))
    return function("b", "n h", {"m": "s:value:0", "h": "h"}, *nodes, control="a")


WHILE = node("read", "While", "c", "v", cond='func { name: "t" }', body='func { name: "b" }')
COND = function("t", "n h", {"r": "n"})


@pytest.mark.parametrize(
    ("model", "accesses"),
    [
        (
            graph(VARIABLE, numbers("c", 1), node("write", "AssignAddVariableOp", "v", "c"), node("read", "ReadVariableOp", "v", "^write")),
            {"write": True, "read": False},
        ),
        (graph(node("v", "VariableV2"), numbers("c", 1), node("read", "AssignAdd", "v", "c")), {"read": True}),
        (
            graph(node("v", "VariableV2"), numbers("c", 1), node("w", "ScatterUpdate", "v", "c", "c"), node("read", "Identity", "v", "^w")),
            {"w": True, "read": False},
        ),
        (graph(VARIABLE, node("read", "PartitionedCall", "v", **CALL), functions=(stepping("^a"),)), {"read": True}),
        (
            graph(
                VARIABLE,
                node("cond", "Placeholder"),
                node("read", "If", "cond", "v", then_branch='func { name: "t" }', else_branch='func { name: "e" }'),
                functions=(
                    function("t", "h", {"r": "b:value:0"}, node("b", "ReadVariableOp", "h")),
                    function("e", "h", {"r": "c:output:0"}, numbers("c", 1), node("a", "AssignVariableOp", "h", "c:output:0"), control="a"),
                ),
            ),
            {"read": True},
        ),
        (graph(VARIABLE, numbers("c", 1), WHILE, functions=(COND, looping("^s"))), {"read": True}),
    ],
)
def test_order_of_accesses(model: Any, accesses: dict[str, bool]) -> None:
    order, notes = find_state(model, ["read:0"])
    assert order is not None
    assert notes == []
    assert order.variables == {("", "v")}
    actual = order.frames["", ""].accesses
    assert {name: each["", "v"] for name, each in actual.items()} == accesses


@pytest.mark.parametrize(
    "model",
    [
        graph(VARIABLE, READ, numbers("c", 1), node("write", "AssignSubVariableOp", "v", "c"), node("y", "Identity", "read", "^write")),
        graph(VARIABLE, node("read", "PartitionedCall", "v", **CALL), functions=(stepping(),)),
        graph(VARIABLE, numbers("c", 1), WHILE, functions=(COND, looping())),
        # What is passed on may be the variable's own memory, which is written before it is used.
        graph(
            node("v", "VariableV2"),
            numbers("c", 1),
            node("old", "Identity", "v"),
            node("w", "AssignAdd", "v", "c", "^old"),
            node("read", "Neg", "old", "^w"),
        ),
        graph(
            node("v", "VariableV2"),
            numbers("c", 1),
            node("read", "AssignAdd", "v", "c"),
            node("y", "AssignAdd", "v", "c", "^read"),
        ),
    ],
)
def test_uncertain_order_is_refused(model: Any) -> None:
    outputs = ["y:0", "read:0"] if any(part.name == "y" for part in model.node) else ["read:0"]
    with pytest.raises(ModelFileError, match=re.escape("it changes variable 'v', and the graph does not determine whether before or")):
        find_state(model, outputs)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            graph(VARIABLE, numbers("c", 1), READ, node("w", "ResourceApplyAdam", "v", "^read"), node("y", "Neg", "read", "^w")),
            "it changes variable 'v', which the outputs read, in a way that cannot be expressed",
        ),
        (
            graph(VARIABLE, numbers("c", 1), node("w", "AssignVariableOp", "c", "c"), node("y", "ReadVariableOp", "v", "^w")),
            "it changes a variable that cannot be told, and the outputs read variables",
        ),
        (
            graph(VARIABLE, numbers("c", 1), READ, node("a", "AssignVariableOp", "v", "c", "^y"), node("y", "Neg", "read", "^a")),
            "it needs itself",
        ),
    ],
)
def test_what_cannot_be_ordered(model: Any, reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        find_state(model, ["y:0"])


@pytest.mark.parametrize(
    ("model", "notes"),
    [
        (graph(VARIABLE, READ), 0),
        (graph(VARIABLE, READ, numbers("c", 1), node("write", "AssignVariableOp", "v", "c")), 0),
        (
            graph(
                node("x", "Placeholder"),
                VARIABLE,
                numbers("c", 1),
                node("write", "AssignAddVariableOp", "v", "c"),
                node("read", "Relu", "x", "^write"),
            ),
            1,
        ),
        (
            graph(
                VARIABLE,
                node("w", "VarHandleOp"),
                node("read", "StatefulPartitionedCall", "v", "w", **CALL),
                functions=(
                    function(
                        "f",
                        "g h",
                        {"r": "b:value:0", "q": "q:value:0"},
                        node("b", "ReadVariableOp", "g"),
                        node("q", "ReadVariableOp", "h"),
                        node("a", "AssignAddVariableOp", "h", "q:value:0"),
                        control="a",
                    ),
                ),
            ),
            1,
        ),
    ],
)
def test_writes_that_do_not_matter(model: Any, notes: int) -> None:
    order, actual = find_state(model, ["read:0"])
    assert order is None
    assert len(actual) == notes
    assert all(note.startswith("cut writes of 1 variable that no output reads: ") for note in actual)


def test_both_outputs_of_a_call_are_walked() -> None:
    """The second output reads the variable that is written, the first does not."""
    body = function(
        "f",
        "h",
        {"r": "c:output:0", "q": "q:value:0"},
        numbers("c", 1),
        node("q", "ReadVariableOp", "h"),
        node("a", "AssignAddVariableOp", "h", "q:value:0"),
        control="a",
    )
    model = graph(VARIABLE, node("call", "f", "v"), functions=(body,))
    assert find_state(model, ["call:0"])[0] is None
    assert find_state(model, ["call:0", "call:1"])[0] is not None
