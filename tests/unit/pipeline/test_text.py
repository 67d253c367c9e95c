"""Pass pipelines as text."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from moir.dialects.context import MoirContext
from moir.dialects.framework import framework_of
from moir.errors import UsageError
from moir.options import ConversionOptions
from moir.pipeline import PASS_MODULES, default_pipeline, pass_names
from moir.pipeline.text import Pipeline


def names(text: str, *, compress_to_fp16: bool = False) -> list[str]:
    return [each.name for each in Pipeline.parse(text).passes("onnx", ConversionOptions(compress_to_fp16=compress_to_fp16))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("lower-onnx", ["lower-onnx"]),
        ("lower-onnx,fold-constants{static-shape=true},lower-onnx", ["lower-onnx", "fold-constants", "lower-onnx"]),
        (" lower-onnx ,\n fold-constants ", ["lower-onnx", "fold-constants"]),
        ("builtin.module(lower-onnx,fold-constants)", ["lower-onnx", "fold-constants"]),
    ],
)
def test_passes(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_default() -> None:
    assert names("default") == [each.name for each in default_pipeline("onnx")]
    assert names("default{compress-to-fp16=true}") == names("default", compress_to_fp16=True)
    assert "compress-to-fp16" in names("default{compress-to-fp16}")
    assert "compress-to-fp16" not in names("default{compress-to-fp16=false}", compress_to_fp16=True)


@pytest.mark.parametrize("number", range(len(default_pipeline("onnx")) + 1))
def test_the_rest_of_the_default_pipeline(number: int) -> None:
    every = names("default")
    place = f"{number:03}-{every[number - 1] if number else 'import'}"
    for text in (f"default{{after={number}}}", f"default{{after={place}}}", f"default{{after={place} compress-to-fp16=false}}"):
        pipeline = Pipeline.parse(text)
        assert [each.name for each in pipeline.passes("onnx", ConversionOptions())] == every[number:]
        assert pipeline.first_number("onnx") == number + 1


def test_a_pass_that_occurs_once_needs_no_number() -> None:
    assert names("default{after=lower-onnx}") == names("default")[names("default").index("lower-onnx") + 1 :]
    assert names("default{after=import}") == names("default{after=000-import}") == names("default")


@pytest.mark.parametrize(
    "text", ["a", "lower-onnx{", "lower-onnx fold-constants", "fold-constants{x=1}", "default{x=1}", "lower-onnx,,", "ä"]
)
def test_errors(text: str) -> None:
    with pytest.raises(UsageError):
        Pipeline.parse(text)


@pytest.mark.parametrize(
    "text", ["default{after=999}", "default{after=nothing}", "default{after}", "default{after=1,2}", "default{compress-to-fp16=7}"]
)
def test_errors_of_default(text: str) -> None:
    with pytest.raises(UsageError):
        Pipeline.parse(text).passes("onnx", ConversionOptions())


def test_every_pass_can_be_named() -> None:
    for name in pass_names():
        assert names(name) == [name]


@pytest.mark.parametrize("framework", ["onnx", "tf"])
def test_without_layout_change(framework: str) -> None:
    pipeline = Pipeline.parse("default{layout-change=none}")
    every = [each.name for each in default_pipeline(framework)]
    layout_change = {name for name, module in PASS_MODULES.items() if module.startswith("moir.passes.layout.")}
    assert layout_change == {"choose-layouts"}
    left = [each.name for each in pipeline.passes(framework, ConversionOptions())]
    assert left == [name for name in every if name not in layout_change]
    assert [each.name for each in Pipeline.parse("default").passes("tf", ConversionOptions(layout_change=False))] == [
        each.name for each in Pipeline.parse("default{layout-change=none}").passes("tf", ConversionOptions())
    ]


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("", "onnx"),
        ("moir.model @m { %0 = onnx.Shape() : tensor<*xf32> }", "onnx"),
        ("moir.model @m { %0 = tf.Shape() : tensor<*xf32> }", "tf"),
        ('moir.model @m attributes {conversion_parameters = {framework = "tf"}} { }', "tf"),
        ('moir.model @m attributes {conversion_parameters = {framework = "other"}} { }', "onnx"),
    ],
)
def test_framework_of_a_module(text: str, framework: str) -> None:
    assert framework_of(Parser(MoirContext(), f"builtin.module {{ {text} }}").parse_module()) == framework
