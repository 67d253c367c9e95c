"""The generated pages of the site have everything there is, and the pages of mkdocs.yml are those there are."""

from __future__ import annotations

import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

import moir
from moir.pipeline import lowering_passes, pass_modules, pass_names
from moir.tools.convert import COMMANDS, argument_parsers
from scripts.site import commands, lowerings, passes, python_interface
from scripts.site.pages import REFERENCES, moved, pages

ROOT = Path(__file__).parents[3]


def test_every_command_has_a_section_with_all_of_its_options() -> None:
    found = argument_parsers()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(found) == {*scripts, *(f"moir {name}" for name in COMMANDS)}
    for name, parser in found.items():
        text = commands.section(name, parser)
        assert [option for option in parser._option_string_actions if f"`{option}" not in text] == [], name


def test_every_pass_has_a_section() -> None:
    text = passes.document()
    assert sorted(re.findall(r"^### ([\w-]+)$", text, re.MULTILINE)) == pass_names()


@pytest.mark.parametrize("name", [*pass_modules(), *lowering_passes()])
def test_every_pass_shows_the_ir_before_and_after_it(name: str) -> None:
    assert passes.has_example(name)
    assert "->" in passes.description(name) or "//" in passes.description(name)


@pytest.mark.parametrize("name", pass_modules())
def test_a_file_of_a_pass_begins_with_its_name(name: str) -> None:
    assert (import_module(pass_modules()[name]).__doc__ or "").startswith(f"`{name}`: ")


def test_facts_about_a_pass() -> None:
    text = passes.section("fold-constants")
    assert "`fold-constants{static-shape=false}`" in text
    titles = (
        "ONNX",
        "TensorFlow",
        "Caffe",
        "MXNet",
        "TensorFlow Lite",
        "Keras",
        "StableHLO",
        "PyTorch",
        "PaddlePaddle",
        "Hugging Face Transformers",
    )
    every = "; ".join(rf"{name}: [\d, ]+" for name in titles)
    assert re.search(rf"^- In the pipeline: {every}$", text, re.MULTILINE)
    assert passes.positions("infer-types") == ""
    assert passes.positions("choose-layouts").startswith("TensorFlow: ")
    assert passes.positions("compress-to-fp16").endswith(", with `--compress-to-fp16`")
    assert passes.description("fuse-swish").startswith("x * sigmoid")
    assert passes.description("fuse-clamp").startswith("Lower and upper")


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("A line.\n\n    %1 = a(%0)\n->  %1 = b(%0)\n\nMore.", "A line.\n\n```mlir\n    %1 = a(%0)\n->  %1 = b(%0)\n```\n\nMore."),
        ("A line.\n\n    %1 = a(%0)\n      b", "A line.\n\n```mlir\n%1 = a(%0)\n  b\n```"),
        ("Cases:\n\n 1. this,\n    or that", "Cases:\n\n 1. this,\n    or that"),
        ("For x < 3.", "For x &lt; 3."),
    ],
)
def test_docstrings_as_markdown(docstring: str, expected: str) -> None:
    assert passes.markdown(docstring) == expected


def test_lowerings() -> None:
    text = lowerings.document()
    assert "| `Elu` | `onnx.Elu(x) {alpha} -> opset1.Elu(x) {alpha}` |" in text
    assert "| `Clip` from 11 |" in text
    assert [line for line in text.splitlines() if line.startswith("|") and len(re.findall(r"(?<!\\)\|", line)) != 3] == []
    assert "| `com.microsoft.BiasGelu` | `op.Gelu(op.Add(x, bias))` |" in text  # a formula of a table
    assert "|  |" not in text


def test_the_interface_has_every_name_of_the_package_and_nothing_that_is_missing() -> None:
    found = [name for names in python_interface.sections().values() for name in names]
    assert {"moir.convert_model", "moir.errors.ConversionError", "moir.conversion.Observer"} <= set(found)
    assert all(resolve_name(name) is not None for name in found)
    functions = {f"moir.{name}" for name in moir.__all__ if inspect.isfunction(getattr(moir, name))}
    assert functions <= set(found)
    assert len(found) == len(set(found))


def test_links_of_files_at_the_root() -> None:
    text = "[a](docs/a.md), [b](CHANGELOG.md), [c](docs/b/c.md#d), [e](https://x.dev), [f](LICENSE)"
    assert moved(text) == "[a](a.md), [b](changelog.md), [c](b/c.md#d), [e](https://x.dev), [f](LICENSE)"


def test_the_navigation_has_every_page() -> None:
    """MkDocs verifies the same when the site is built, and the links."""
    listed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert listed == written | REFERENCES.keys() | {"index.md", "changelog.md", "security.md", "editors.md"}
    assert pages().keys() - listed == {"LICENSE"}
