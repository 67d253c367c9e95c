"""PaddlePaddle models: which files are read, and what the module says."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

import moir
from moir.dialects.moir import models_of
from moir.dialects.names import name_of
from moir.dialects.shapes import shape_of
from moir.errors import ConversionError, ModelFileError
from moir.files.recognition import framework_of_file
from moir.frontends.paddle import read_model
from moir.frontends.paddle.definitions import definition_of, definition_of_pir
from moir.lowering.paddle.table import paddle
from moir.lowering.signatures import signature_of
from tests.unit.frontends.paddle.streams import split_stream

FIXTURES = Path(__file__).parents[3] / "fixtures" / "paddle"
PROGRAM, PIR = FIXTURES / "classifier.pdmodel", FIXTURES / "classifier_pir.json"


def copied(path: Path, folder: Path, name: str | None = None) -> Path:
    """A model and its parameters in a folder; returns the program."""
    target = folder / (name or path.name)
    shutil.copy(path.with_suffix(".pdiparams"), target.with_suffix(".pdiparams"))
    return Path(shutil.copy(path, target))


def interface(module: Any) -> tuple[list[str | None], list[str | None]]:
    """The names of the inputs and outputs of a module."""
    (model,) = models_of(module)
    ops = list(model.block.ops)
    return [name_of(op) for op in ops if op.name == "opset1.Parameter"], [name_of(op) for op in ops if op.name == "opset1.Result"]


@pytest.mark.parametrize(("path", "output"), [(PROGRAM, "softmax_0.tmp_0"), (PIR, "fetch_name_0")])
def test_names_of_inputs_and_outputs(path: Path, output: str) -> None:
    inputs, outputs = interface(read_model(path))
    assert inputs == ["image"]
    assert len(outputs) == 1
    assert output in str(outputs[0]) or "scale" in str(outputs[0])


@pytest.mark.parametrize("name", ["inference.pdmodel", "model.pdmodel", "inference.json", "model.json"])
def test_folders(tmp_path: Path, name: str) -> None:
    path = copied(PIR if name.endswith("json") else PROGRAM, tmp_path, name)
    assert framework_of_file(tmp_path).dialect == "paddle"
    assert str(read_model(tmp_path)) == str(read_model(path))


def test_the_content_says_what_a_file_is(tmp_path: Path) -> None:
    for path in (PROGRAM, PIR):
        assert framework_of_file(shutil.copy(path, tmp_path / "model.bin")).dialect == "paddle"


@pytest.mark.parametrize("stream", ["__params__", "params", None])
def test_programs_of_older_versions(tmp_path: Path, stream: str | None) -> None:
    program = Path(shutil.copy(PROGRAM, tmp_path / "__model__"))
    if stream is not None:
        shutil.copy(PROGRAM.with_suffix(".pdiparams"), tmp_path / stream)
    else:
        for each in split_stream(PROGRAM):
            (tmp_path / each.name).write_bytes(each.content)
    expected = str(read_model(PROGRAM)).replace("@classifier", "")
    assert str(read_model(tmp_path)).replace(f"@{tmp_path.name}", "").replace(f'@"{tmp_path.name}"', "") == expected
    assert framework_of_file(program).dialect == "paddle"


def damaged(path: Path, folder: Path, suffix: str, change: Any) -> Path:
    """A model of which one file is changed."""
    program = copied(path, folder)
    target = program.with_suffix(suffix)
    target.write_bytes(change(target.read_bytes()))
    return program


@pytest.mark.parametrize(
    ("path", "suffix", "change", "message"),
    [
        (PROGRAM, ".pdiparams", lambda content: content[:100], "needs .* bytes where .* are left|the file ends before"),
        (PROGRAM, ".pdiparams", lambda content: content + b"x", "more tensors than the"),
        (PROGRAM, ".pdiparams", lambda _: b"", "the file is empty, and the model has"),
        (PROGRAM, ".pdiparams", lambda content: b"\1" + content[1:], "is stored in an unknown form"),
        (PROGRAM, ".pdmodel", lambda content: content[:-7], "truncated|damaged"),
        (PIR, ".json", lambda content: content[:-7], "not a PIR program: .*; the file is damaged or incomplete"),
        (PIR, ".json", lambda content: content.replace(b'"version":4', b'"version":9'), "it has version 9 of the format"),
        (PIR, ".json", lambda content: content.replace(b'"#":"1.relu"', b'"#":"relu"'), "has no dialect"),
        (PIR, ".pdiparams", lambda content: content[:100], "needs .* bytes where .* are left|the file ends before"),
    ],
)
def test_damaged_files(tmp_path: Path, path: Path, suffix: str, change: Any, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_model(damaged(path, tmp_path, suffix, change))


def test_missing_parameters(tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path)
    with pytest.raises(ModelFileError, match=r"the parameters are missing: there is no classifier\.pdiparams beside the file"):
        read_model(tmp_path / PROGRAM.name)


def test_an_unknown_kind_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = copied(PIR, tmp_path)
    path.write_bytes(path.read_bytes().replace(b'"#":"1.relu"', b'"#":"1.strange"'))
    with pytest.raises(ConversionError, match=r"no lowering for 1 kind of operation: paddle\.strange"):
        moir.convert_model(path)


def test_operands_of_both_forms_are_the_same() -> None:
    mean = definition_of("reduce_mean")
    assert mean is not None
    assert mean is definition_of_pir("mean")
    assert mean.renamed == {"keepdim": "keep_dim", "axis": "dim", "dtype": "out_dtype"}
    assert definition_of_pir("relu_") is definition_of("relu")


def test_handlers_take_the_operands_of_the_definitions() -> None:
    """A handler has at most as many operands as its kind, and a list where the kind has one."""
    wrong: list[str] = []
    for kind in paddle.kinds():
        definition, handler = definition_of(kind), paddle._registered(kind)[0][1]  # pyright: ignore[reportPrivateUsage]
        if definition is None:
            continue
        operands = signature_of(handler).operands
        single = [each for each in operands if not each.is_variadic]
        has_list = len(single) < len(operands)
        if len(single) > len(definition.operands) - definition.list_count or has_list != bool(definition.list_count):
            wrong.append(kind)
    assert wrong == []


def test_pir_is_json_of_a_form(tmp_path: Path) -> None:
    for content in (
        {},
        {"base_code": {"magic": "pir", "version": 4}},
        {"base_code": {"magic": "pir", "version": 4}, "program": {"regions": 5}},
    ):
        (tmp_path / "m.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(ModelFileError):
            read_model(tmp_path / "m.json")


VERSION_2_6_2, VERSION_2_4_2 = b"\x22\x04\x08\xf2\xb7\x7a", b"\x22\x04\x08\xa2\xa8\x7a"


def test_before_version_2_5_there_are_no_scalars(tmp_path: Path) -> None:
    """A mean of all elements was a list of one."""
    with zipfile.ZipFile(FIXTURES / "reduction.program.zip") as archive:
        archive.extractall(tmp_path)
    program = tmp_path / "static.pdmodel"
    content = program.read_bytes()
    assert content.count(VERSION_2_6_2) == 1
    shapes: list[Any] = []
    for version in (VERSION_2_6_2, VERSION_2_4_2):
        program.write_bytes(content.replace(VERSION_2_6_2, version))
        (model,) = models_of(moir.convert_model(program))
        results = [op for op in model.block.ops if op.name == "opset1.Result"]
        shapes.append(shape_of(results[1].operands[0]))
    assert shapes == [(), (1,)]
