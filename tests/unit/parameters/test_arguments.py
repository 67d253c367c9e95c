"""Arguments of the Python interface: what is unknown or wrong is refused before anything is read."""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

import moir
from moir.conversion import Observer
from moir.errors import ArgumentError, ConversionError, MoirError, UsageError
from moir.parameters.arguments import FLAG, PATH, checked, shown
from moir.passes.fold.fold_constants import FoldConstantsPass
from moir.pipeline import load_pass, pipeline_names
from tests.unit.small_models import loop_model, matmul_model, save

convert: Any = moir.convert_model
"""Without a type, as type checkers refuse these calls too."""


class Recorder(Observer):
    def __init__(self) -> None:
        self.told: list[str] = []

    def finish(self, number: int, stage: str, module: ModuleOp, seconds: float) -> None:
        self.told.append(stage)

    def close(self) -> None:
        self.told.append("closed")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(loop_model(), tmp_path_factory.mktemp("models") / "m.onnx")


UNKNOWN: list[tuple[str, str]] = [
    ("extention", "convert_model has no argument 'extention'; did you mean extensions or detection?"),
    ("Tags", "convert_model has no argument 'Tags'; did you mean tags?"),
    ("compress_fp16", "convert_model has no argument 'compress_fp16'; did you mean compress_to_fp16?"),
    ("qwertz", "convert_model has no argument 'qwertz'; help(moir.convert_model) lists what it takes"),
    ("example_of_inputs", "convert_model has no argument 'example_of_inputs'; did you mean example_inputs or example_input?"),
]


@pytest.mark.parametrize(("name", "message"), UNKNOWN)
def test_unknown_arguments(name: str, message: str, model: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        convert(model, **{name: 1})
    assert str(caught.value) == message
    assert isinstance(caught.value, TypeError), "as for any function of Python"
    assert not isinstance(caught.value, ConversionError), "the model is not at fault"


REFUSED: list[tuple[dict[str, object], str]] = [
    (
        {"layout_change": "non"},
        "argument layout_change of convert_model must be 'auto', 'none', True or False, not the str 'non'; did you mean none?",
    ),
    ({"layout_change": 0}, "not the int 0"),
    ({"layout_change": None}, "not None"),
    ({"compress_to_fp16": "no"}, "argument compress_to_fp16 of convert_model must be True or False, not the str 'no'"),
    ({"enable": "abc"}, "argument enable of convert_model must be a list of names (str), not the str 'abc'; write ['abc']"),
    ({"disable": "abc"}, "write ['abc']"),
    ({"disable": [FoldConstantsPass]}, "must be a list of names (str)"),
    ({"tags": "serve"}, "write ['serve']"),
    ({"tags": [1]}, "not the list [1]"),
    ({"signature": ["serving_default"]}, "argument signature of convert_model must be a name (str) or None"),
    ({"checkpoint": 5}, "argument checkpoint of convert_model must be a path (str or pathlib.Path) or None, not the int 5"),
    ({"extensions": 5}, "argument extensions of convert_model must be a path or a name, or a list of them"),
    ({"extensions": None}, "not None"),
    ({"extensions": ["a", None]}, "not the list ['a', None]"),
    ({"transformations_config": {}}, "must be a path (str or pathlib.Path) or None, not the dict {}"),
    ({"passes": 3}, "must be a pipeline as text, or a list of such texts and of passes or None, not the int 3"),
    ({"passes": FoldConstantsPass()}, "write [FoldConstantsPass()]"),
    ({"passes": FoldConstantsPass}, "FoldConstantsPass is a class, make an instance: FoldConstantsPass()"),
    ({"passes": ["lower-onnx", FoldConstantsPass]}, "FoldConstantsPass is a class, make an instance: FoldConstantsPass()"),
    ({"passes": iter([3])}, "3 is neither the name of a pass nor a pass"),
    (
        {"observers": Recorder()},
        "argument observers of convert_model must be a list of observers (moir.Observer), not a value of type Recorder; write [Recorder()]",
    ),
    ({"observers": [Recorder]}, "Recorder is a class, make an instance: Recorder()"),
    ({"observers": [print]}, "must be a list of observers (moir.Observer)"),
    ({"observers": None}, "not None"),
    ({"input": 5}, "not the int 5; 5 is not an input: it is a text, a shape, an element type or a moir.Input"),
    ({"input": "x[1"}, "not the str 'x[1'; a bracket is not closed: 'x[1'"),
    ({"input": {"x": "f23"}}, "'f23' is not an element type; did you mean f32"),
    ({"input": [moir.Input("x", [1, "a b"])]}, "'a b' is not a dimension"),
    ({"output": 5}, "argument output of convert_model must be outputs: a text as of --output, or a list of names (str), not the int 5"),
    ({"output": "a,"}, "'a,' has an empty item"),
    ({"input_shape": "[1"}, "a bracket is not closed"),
    ({"batch": -1}, "argument batch of convert_model must be a whole number from 1 on, not the int -1"),
    ({"batch": True}, "not the bool True"),
    ({"static_shape": "yes"}, "must be True or False"),
    ({"model_name": 3}, "must be a name (str)"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED, ids=lambda value: value[:40] if isinstance(value, str) else next(iter(value)))
def test_refused_arguments(arguments: dict[str, object], message: str, model: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        convert(model, **arguments)
    assert message in str(caught.value)


NO_PATHS: list[tuple[Callable[[Path], object], str]] = [
    (lambda _: None, "argument input_model of convert_model must be a path (str or pathlib.Path) or a model in memory, not None"),
    (lambda _: 5, "not the int 5"),
    (lambda path: moir.read_model(path), "must be a path"),
    (lambda path: [path], "not the list [PosixPath("),
    (lambda _: io.StringIO("x"), "the file is open as text; open it with mode 'rb'"),
]


@pytest.mark.parametrize(("made", "message"), NO_PATHS)
def test_what_is_no_path(made: Callable[[Path], object], message: str, model: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        convert(made(model))
    assert message in str(caught.value)
    assert len(str(caught.value)) < 250


def test_missing_and_positional_arguments(model: Path) -> None:
    with pytest.raises(
        ArgumentError,
        match=r"^convert_model: missing a required argument: 'input_model'; it is convert_model\(input_model, name=value, …\)$",
    ):
        convert()
    with pytest.raises(ArgumentError, match=r"^convert_model: too many positional arguments"):
        convert(model, "ckpt")
    with pytest.raises(ArgumentError, match=r"^convert_model: multiple values for argument 'input_model'"):
        convert(model, input_model=model)


NO_MODULE = (
    "argument module of save_model must be a module, as convert_model returns it, not the str 'm.onnx'; "
    "convert it first: moir.convert_model('m.onnx')"
)

SAVED: list[tuple[Callable[[ModuleOp], tuple[object, ...]], str]] = [
    (lambda module: (module, "x.txt"), "x.txt: the name of the file to write must end in .xml; did you mean x.xml?"),
    (lambda module: (module, "x"), "did you mean x.xml?"),
    (lambda module: (module, Path("x.bin")), "did you mean x.xml?"),
    (lambda module: (module, None), "not None"),
    (lambda _: ("m.onnx", "x.xml"), NO_MODULE),
    (lambda module: ("x.xml", module), "not the str 'x.xml'; the order is save_model(module, path, name=value, …)"),
    (lambda module: ("x", module), "the order is save_model(module, path, name=value, …)"),
    (lambda module: (module, "x.xml", True), "save_model: too many positional arguments; it is save_model(module, path, name=value, …)"),
]


@pytest.mark.parametrize(("made", "message"), SAVED)
def test_saving(
    made: Callable[[ModuleOp], tuple[object, ...]], message: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_model: Any = moir.save_model
    with pytest.raises(UsageError) as caught:
        save_model(*made(moir.convert_model(model)))
    assert message in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_model_in_memory(model: Path) -> None:
    to_openvino: Any = moir.to_openvino
    module = moir.convert_model(model)
    for arguments, message in (
        ((str(model),), "convert it first"),
        ((model,), "convert it first"),
        ((module, "CPU"), "too many positional"),
    ):
        with pytest.raises(ArgumentError, match=message):
            to_openvino(*arguments)
    for named, message in (
        ({"core": "CPU"}, "must be an openvino.Core or None, not the str 'CPU'"),
        ({"conversion_parameters": {"a": 1}}, "must be a mapping of names to texts"),
        ({"parameters": {}}, "to_openvino has no argument 'parameters'; did you mean conversion_parameters?"),
    ):
        with pytest.raises(ArgumentError) as caught:
            to_openvino(module, **named)
        assert message in str(caught.value)


def test_reading(model: Path) -> None:
    read_model: Any = moir.read_model
    with pytest.raises(ArgumentError, match="did you mean signature"):
        read_model(model, signatures="a")
    with pytest.raises(ConversionError, match="no tags"):
        read_model(model, tags=["serve"])


def test_layout_change_is_said_as_on_the_command_line(model: Path) -> None:
    def recorded(**options: Any) -> str:
        return str(moir.convert_model(model, **options)).partition("conversion_parameters")[2].partition("}")[0]

    assert recorded(layout_change="none") == recorded(layout_change=False) != recorded()
    assert recorded(layout_change="auto") == recorded(layout_change=True) == recorded()


PIPELINES: list[tuple[object, str]] = [
    ("foo", "there is no pass 'foo'"),
    ("fold-constant", "there is no pass 'fold-constant'; did you mean fold-constants"),
    ("defualt", "did you mean default?"),
    (["lower-onnx", "fuse-swich"], "did you mean fuse-swish"),
    ("fold-constants{static=true}", "'fold-constants' has no option 'static'; did you mean static-shape?"),
    ("default{layout-chang=none}", "'default' has no option 'layout-chang'; did you mean layout-change?"),
]


@pytest.mark.parametrize(("passes", "message"), PIPELINES)
def test_pipelines_that_name_what_does_not_exist(passes: Any, message: str, model: Path) -> None:
    with pytest.raises(UsageError) as caught:
        moir.convert_model(model, passes=passes)
    assert message in str(caught.value)
    assert str(caught.value).count(",") <= 2, "three names at most"


def test_passes_by_name_and_as_objects(model: Path) -> None:
    recorder = Recorder()
    mixed = ["lower-onnx", FoldConstantsPass(static_shape=True), "eliminate-dead,fold-constants{static-shape=true}"]
    module = moir.convert_model(model, passes=mixed, observers=[recorder])
    assert recorder.told == ["import", "lower-onnx", "fold-constants", "eliminate-dead", "fold-constants", "closed"]
    text = "lower-onnx,fold-constants{static-shape=true},eliminate-dead,fold-constants{static-shape=true}"
    assert module.is_structurally_equivalent(moir.convert_model(model, passes=text))
    moir.convert_model(model, passes=iter(["default", load_pass("fold-constants")()]), observers=(recorder,))
    assert recorder.told[6:] == ["import", *pipeline_names("onnx"), "fold-constants", "closed"]


def test_observers_are_closed_when_a_conversion_fails(tmp_path: Path) -> None:
    recorder = Recorder()
    path = save(matmul_model("Mystery", "com.acme"), tmp_path / "m.onnx")
    with pytest.raises(ConversionError):
        moir.convert_model(path, observers=[recorder])
    assert recorder.told[0] == "import"
    assert recorder.told[-1] == "closed"


@pytest.mark.parametrize("name", ["convert_model", "read_model", "save_model", "to_openvino"])
def test_signatures_are_those_that_are_written(name: str) -> None:
    """But for synonyms and the options of readers."""
    function = getattr(moir, name)
    others = [each.name for each in inspect.signature(function).parameters.values() if each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)]
    assert others == {"convert_model": ["further"], "read_model": ["reader_options"]}.get(name, [])
    assert function.__name__ == name
    assert function.__doc__


def test_one_family_of_errors() -> None:
    assert issubclass(ArgumentError, UsageError)
    assert all(issubclass(each, MoirError) for each in (ConversionError, UsageError))
    assert not issubclass(UsageError, ConversionError)


def test_every_argument_has_its_check() -> None:
    with pytest.raises(AssertionError):

        @checked(path=PATH)
        def unchecked(path: str, flag: bool) -> None: ...

    @checked(path=PATH, flag=FLAG)
    def complete(path: str, flag: bool = False) -> str:
        return f"{path} {flag}"

    assert complete("a", flag=True) == "a True"


def test_values_are_shown_in_short() -> None:
    assert shown("a" * 1000) == f"the str '{'a' * 58}…"
    assert shown(FoldConstantsPass) == repr(FoldConstantsPass)
