"""SavedModels, MetaGraphs and graphs with a checkpoint, written by TensorFlow (tests/fixtures/tensorflow/generate.py)."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.errors import ConversionError, ModelFileError, UsageError
from moir.frontends.tensorflow import read_model
from moir.frontends.tensorflow.messages import message_class

FIXTURES = Path(__file__).parents[3] / "fixtures" / "tensorflow"
VARIABLE_KINDS = ("tf.VarHandleOp", "tf.VariableV2")
TABLE_KINDS = ("tf.HashTableV2",)


def ramp(shape: tuple[int, ...], start: float = 0.0) -> np.ndarray:
    """The numbers generate.py gives variables."""
    return (start + np.arange(np.prod(shape)).reshape(shape) / 8).astype(np.float32)


def text(op: Any, name: str) -> str:
    """A string attribute of an operation."""
    return op.attributes[name].data


def names(module: ModuleOp, kind: str) -> list[str]:
    """Names of the operations of a kind, in order."""
    return [text(op, "name") for op in module.walk() if op.name == kind]


def values(module: ModuleOp) -> dict[str, Any]:
    """The values of the variables that are used, and the entries of the tables, by name."""
    values: dict[str, Any] = {}
    for op in module.walk():
        if not any(result.uses for result in op.results):
            continue
        if op.name in VARIABLE_KINDS:
            values[text(op, "name")] = op.properties["value"].array
        if op.name in TABLE_KINDS:
            values[text(op, "name")] = dict(zip(op.properties["keys"].array, op.properties["values"].array, strict=True))
    return values


DENSE = {"weights": ramp((4, 6)), "rows/part_0": ramp((6, 3), 1.0)[:3], "rows/part_1": ramp((6, 3), 1.0)[3:], "bias": ramp((3,), 2.0)}
KERAS = {"dense/kernel_1": ramp((4, 3)), "dense/bias_1": ramp((3,), 1.0)}
WORDS = {"moss": 0, "fern": 1, "reed": 2}


def check(actual: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare variables and tables."""
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        assert actual[name] == value if isinstance(value, dict) else np.array_equal(actual[name], value), name


@pytest.mark.parametrize(
    ("path", "options", "inputs", "outputs", "expected"),
    [
        ("saved_model_v1", {"signature": "dense"}, ["input"], ["scores"], DENSE),
        ("saved_model_v1/saved_model.pb", {"signature": "dense", "tags": ["serve"]}, ["input"], ["scores"], DENSE),
        ("saved_model_v1", {"tags": ["serve", "tpu"]}, ["input"], ["scores"], DENSE),
        ("saved_model_v1", {"signature": "lookup"}, ["words"], ["numbers"], {"table": WORDS}),
        ("keras_3", {}, ["a", "b"], ["output_0", "output_1"], KERAS),
        (
            "keras_3",
            {"signature": "serve"},
            ["a", "b"],
            ["output_0", "output_1"],
            KERAS,
        ),
        (
            "saved_model_v2",
            {},
            ["sizes", "words"],
            ["half", "rows"],
            {
                "rows": ramp((3, 2)),
                "half": ramp((2,), 1.0).astype(np.float16),
                "hash_table": {10: 0.5, 20: 0.25},
                "hash_table_1": WORDS,
            },
        ),
        ("checkpoint/model.meta", {}, ["x"], ["y"], DENSE),
        ("checkpoint/with_saver.pbtxt", {"checkpoint": "model"}, ["x"], ["y"], DENSE),
        ("checkpoint/inference.pbtxt", {"checkpoint": "model"}, ["x"], ["y"], DENSE),
        ("checkpoint/inference.pbtxt", {"checkpoint": "model.index"}, ["x"], ["y"], DENSE),
    ],
)
def test_models(path: str, options: dict[str, Any], inputs: list[str], outputs: list[str], expected: dict[str, Any]) -> None:
    if "checkpoint" in options:
        options = {**options, "checkpoint": FIXTURES / "checkpoint" / options["checkpoint"]}
    module = read_model(FIXTURES / path, **options)
    module.verify()
    assert names(module, "opset1.Parameter") == inputs
    assert names(module, "opset1.Result") == outputs
    check(values(module), expected)


def notes(module: ModuleOp) -> list[str]:
    """The notes of a model."""
    return [note.data for op in module.walk() if op.name == "moir.model" for note in op.attributes["notes"]]


def test_writes_of_other_variables_are_cut_with_a_note() -> None:
    module = read_model(FIXTURES / "saved_model_v2")
    assert "cut writes of 1 variable that no output reads: calls" in notes(module)


def test_a_state_has_a_note() -> None:
    module = read_model(FIXTURES / "saved_model_v2", signature="count")
    assert "the model has a state, which an infer request keeps until reset_state(): calls i64[]" in notes(module)
    assert [op.name for op in module.walk() if op.name.startswith("opset6.")] == ["opset6.ReadValue", "opset6.Assign"]


@pytest.mark.parametrize(
    ("path", "options", "reason"),
    [
        ("saved_model_v2", {"signature": "train"}, "no signature 'train'; its signatures: count, serving_default"),
        ("saved_model_v2", {"signature": "serving"}, r"no signature 'serving'; did you mean serving_default\?"),
        ("saved_model_v1", {}, "no signature 'serving_default'; its signatures: dense, lookup"),
        (
            "saved_model_v1",
            {"tags": ["train"]},
            r"no graph has the tags \[train\]; there are .* \[serve, tpu\], \[serve\]",
        ),
        ("checkpoint/with_saver.pbtxt", {}, "tf.VariableV2 'weights': the variable is read and has no value"),
        ("saved_model_v1", {"tags": ["srve"]}, r"no graph has the tags \[srve\]; did you mean serve\?"),
        ("saved_model_v1", {"tags": ["serve", "tpus"]}, r"no graph has the tags \[serve, tpus\]; did you mean serve, tpu"),
        ("checkpoint/with_saver.pbtxt", {"checkpoint": "none"}, "there is no checkpoint of this name; it is the path of the .index"),
    ],
)
def test_what_is_refused(path: str, options: dict[str, Any], reason: str) -> None:
    names_something = "tags" in options or options.get("signature", "count") != "count"
    with pytest.raises(UsageError if names_something else ModelFileError, match=reason):
        read_model(FIXTURES / path, **options)


def test_a_checkpoint_with_another_name() -> None:
    with pytest.raises(ModelFileError, match=r"there is no checkpoint of this name; did you mean model\?"):
        read_model(FIXTURES / "checkpoint/with_saver.pbtxt", checkpoint=FIXTURES / "checkpoint/modle")


def copy(name: str, folder: Path) -> Path:
    """A fixture that can be changed."""
    return Path(shutil.copytree(FIXTURES / name, folder / name))


def test_files_that_are_missing(tmp_path: Path) -> None:
    model = copy("saved_model_v2", tmp_path)
    (model / "assets" / "words.txt").rename(tmp_path / "words.txt")
    with pytest.raises(ModelFileError, match=r"asset 'words\.txt' is missing"):
        read_model(model)
    (tmp_path / "words.txt").rename(model / "assets" / "words.txt")
    (model / "variables" / "variables.data-00000-of-00001").unlink()
    with pytest.raises(ModelFileError, match=r"variables\.data-00000-of-00001: the data file of the checkpoint is missing"):
        read_model(model)
    shutil.rmtree(model / "variables")
    with pytest.raises(ModelFileError, match="the variable is read and has no value"):
        read_model(model)
    (model / "saved_model.pb").unlink()
    with pytest.raises(ModelFileError, match=r"saved_model\.pb"):
        read_model(model)


def test_checkpoint_of_another_model(tmp_path: Path) -> None:
    folder = copy("checkpoint", tmp_path)
    for suffix in ("index", "data-00000-of-00001"):
        shutil.copy(FIXTURES / "keras_3" / "variables" / f"variables.{suffix}", folder / f"model.{suffix}")
    with pytest.raises(ModelFileError, match="the checkpoint has no tensor"):
        read_model(folder / "model.meta")


def test_variable_of_another_shape(tmp_path: Path) -> None:
    folder = copy("checkpoint", tmp_path)
    path = folder / "inference.pbtxt"
    path.write_text(path.read_text().replace("size: 4", "size: 5"))
    with pytest.raises(ModelFileError, match=r"'weights': .* shape \[4, 6\] and type f32 for it, not FLOAT \[5, 6\]"):
        read_model(path, checkpoint=folder / "model")


def test_names_through_the_graph_of_objects(tmp_path: Path) -> None:
    """A graph without restore operations: its variables have the names of the objects' variables."""
    graph = message_class("GraphDef")()
    for name, kind, inputs in (("rows", "VarHandleOp", []), ("read", "ReadVariableOp", ["rows"]), ("y", "Neg", ["read"])):
        node = graph.node.add(name=name, op=kind)
        node.input.extend(inputs)
        node.attr["dtype"].type = 1
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    module = read_model(path, checkpoint=FIXTURES / "saved_model_v2" / "variables" / "variables")
    check(values(module), {"rows": ramp((3, 2))})


def test_text_form_of_a_saved_model(tmp_path: Path) -> None:
    from google.protobuf import text_format

    model = copy("keras_3", tmp_path)
    binary = model / "saved_model.pb"
    message = message_class("SavedModel").FromString(binary.read_bytes())
    (model / "saved_model.pbtxt").write_text(text_format.MessageToString(message))
    binary.unlink()
    module = read_model(model)
    assert names(module, "opset1.Parameter") == ["a", "b"]


def test_files_that_are_links(tmp_path: Path) -> None:
    """Caches of downloads keep the files of a model as links into a folder of contents.

    Who names such a link himself means what it leads to; a link in a folder that he named is one that came with it.
    """
    source = FIXTURES / "saved_model_v2"
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    for number, path in enumerate(sorted(path for path in source.rglob("*") if path.is_file())):
        shutil.copy(path, blobs / str(number))
        link = tmp_path / "snapshot" / path.relative_to(source)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(blobs / str(number))
    assert values(read_model(tmp_path / "snapshot" / "saved_model.pb"))["hash_table_1"] == WORDS
    with pytest.raises(ModelFileError, match="the file is a link out of the folder of the model"):
        read_model(tmp_path / "snapshot")


@pytest.mark.parametrize("name", ["saved_model_v1", "saved_model_v2"])
def test_damage_gives_an_error_or_a_model(tmp_path: Path, name: str) -> None:
    """Bytes changed or cut off anywhere: a module that verifies, or a ConversionError."""
    folder = copy(name, tmp_path)
    path = folder / "saved_model.pb"
    original = path.read_bytes()
    generator = random.Random(11)
    failures = 0
    for _ in range(120):
        content = bytearray(original)
        if generator.random() < 0.2:
            del content[generator.randrange(len(content)) :]
        for _ in range(generator.randrange(1, 4)):
            content[generator.randrange(len(content))] = generator.randrange(256)
        path.write_bytes(bytes(content))
        try:
            read_model(folder, signature="lookup" if name == "saved_model_v1" else None, tags=["serve"]).verify()
        except ConversionError:
            failures += 1
    assert 20 < failures < 120


def test_a_graph_without_signatures(tmp_path: Path) -> None:
    """Its placeholders and the nodes without uses are inputs and outputs, as of a graph."""
    shutil.copytree(FIXTURES / "saved_model_v1", tmp_path / "model")
    file = tmp_path / "model" / "saved_model.pb"
    content = message_class("SavedModel").FromString(file.read_bytes())
    del content.meta_graphs[1:]
    for key in list(content.meta_graphs[0].signature_def):
        del content.meta_graphs[0].signature_def[key]
    file.write_bytes(content.SerializeToString())
    module = read_model(tmp_path / "model")
    assert "x" in names(module, "opset1.Parameter")
    assert names(module, "opset1.Result")
    with pytest.raises(ModelFileError, match="no signature that says what its outputs are"):
        read_model(tmp_path / "model", signature="dense")
