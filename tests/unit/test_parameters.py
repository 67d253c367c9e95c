"""The table of conversion parameters: what is derived from it agrees with what is written elsewhere."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import moir
from moir.errors import ArgumentError
from moir.frameworks import BUILT_IN
from moir.options import ConversionOptions
from moir.parameters import CONVERSION_PARAMETERS, parameter_named, parameters, pass_requests
from moir.parameters.parameter import Parameter
from moir.parameters.reader_options import ReaderOptions
from moir.parameters.reading import reading_parameters
from moir.pipeline import every_pass, load_pass
from moir.tools.convert import argument_parser
from scripts import option_texts

PARAMETERS = parameters()


def test_names_and_options_are_unique() -> None:
    assert len({each.name for each in PARAMETERS}) == len(PARAMETERS)
    flags = [flag for each in PARAMETERS for flag in (*each.flags, *each.spellings)]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda each: each.name)
def test_keywords_of_convert_model(parameter: Parameter[Any]) -> None:
    is_of_reader = parameter in reading_parameters(BUILT_IN)
    if is_of_reader:
        assert parameter.name in ReaderOptions.__annotations__
        assert parameter.default is None
    elif parameter.synonym_of:
        assert parameter.name not in inspect.signature(moir.convert_model).parameters
        assert set(parameter.synonym_of) <= inspect.signature(moir.convert_model).parameters.keys()
        return
    else:
        keyword = inspect.signature(moir.convert_model).parameters[parameter.name]
        assert keyword.kind is keyword.KEYWORD_ONLY
        assert parameter.kind.expected.accepts(keyword.default)
        assert parameter.kind.of_python(keyword.default) == parameter.default
    arguments = (inspect.getdoc(moir.read_model if is_of_reader else moir.convert_model) or "").partition("\nArgs:\n")[2]
    assert re.search(rf"^    {parameter.name}: ", arguments, re.MULTILINE), "the docstring says what it means"


def test_texts_of_options_are_those_of_the_records() -> None:
    assert option_texts.main(["--check"]) == 0


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda each: each.name)
def test_the_command_line_has_the_option(parameter: Parameter[Any]) -> None:
    parser = argument_parser()
    assert parameter.flag in parser._option_string_actions
    assert all(parser.spellings[each] == parameter.flag for each in parameter.spellings)


def test_what_parameters_ask_for_is_in_the_pipeline() -> None:
    for name in pass_requests():
        assert name in every_pass()
        assert load_pass(name).name == name


def test_defaults_ask_for_nothing() -> None:
    options = ConversionOptions()
    assert options.recorded() == {}
    assert not options.needs_extensions
    assert all(not options.pass_options(name) for name in pass_requests())


SWITCHES = [each for each in CONVERSION_PARAMETERS if each.kind.is_flag and each.kind.switched]


@pytest.mark.parametrize("parameter", SWITCHES, ids=lambda each: each.name)
def test_switches(parameter: Parameter[Any]) -> None:
    for arguments, value in (
        ([parameter.flag], True),
        ([f"{parameter.flag}=True"], True),
        ([f"{parameter.flag}=False"], False),
        ([parameter.flag, "False"], False),
        ([], None),
    ):
        assert getattr(argument_parser().parsed(["m.onnx", *arguments]), parameter.name) is value


def test_values() -> None:
    options = ConversionOptions(compress_to_fp16=True, checkpoint="/home/me/ckpt", tags=["a", "b"], disable=["x"], layout_change="none")
    assert options.recorded() == {
        "compress_to_fp16": "True",
        "layout_change": "none",
        "checkpoint": "ckpt",
        "tags": "a,b",
        "disable": "x",
    }
    assert options[parameter_named("compress-to-fp16")] is True
    with pytest.raises(ArgumentError, match="there is no parameter 'tag'; did you mean tags"):
        ConversionOptions(tag="x")


def test_what_extensions_of_model_optimizer_find() -> None:
    options = ConversionOptions(input="x[1,3],y->2", output=["a", "b"], batch=0, tags=["serve"], checkpoint="dir/ckpt")
    assert options.parameters("dir/m.onnx") == {
        "input_model": "dir/m.onnx",
        "input": "x[1,3],y->2",
        "output": "a,b",
        "static_shape": False,
        "generation": False,
        "low_latency": False,
        "compress_to_fp16": False,
        "layout_change": True,
        "reverse_input_channels": False,
        "tokenizers": True,
        "tags": ["serve"],
        "checkpoint": "dir/ckpt",
    }
