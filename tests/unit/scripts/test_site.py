"""The generated pages of the site have everything there is, and the pages of mkdocs.yml are those there are."""

from __future__ import annotations

import argparse
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

import moir
from moir.pipeline import PASS_MODULES, lowering_passes, pass_names
from moir.tools.convert import COMMANDS, argument_parsers
from scripts.site import commands, lowerings, passes, python_interface
from scripts.site.pages import GENERATED_TABLES, QUESTIONS, REFERENCES, moved, pages, search_boost

ROOT = Path(__file__).parents[3]


def test_every_command_has_a_section_with_all_of_its_options() -> None:
    actual = argument_parsers()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert set(actual) == {*scripts, *(f"moir {name}" for name in COMMANDS)}
    for name, parser in actual.items():
        text = commands.section(name, parser)
        shown = [option for option, action in parser._option_string_actions.items() if action.help != argparse.SUPPRESS]
        assert [option for option in shown if f"`{option}" not in text] == [], name


def test_every_pass_has_a_section() -> None:
    text = passes.document()
    assert sorted(re.findall(r"^### ([\w-]+)$", text, re.MULTILINE)) == pass_names()


@pytest.mark.parametrize("name", [*PASS_MODULES, *lowering_passes()])
def test_every_pass_shows_the_ir_before_and_after_it(name: str) -> None:
    assert passes.has_example(name)
    assert "->" in passes.description(name) or "//" in passes.description(name)


@pytest.mark.parametrize("name", PASS_MODULES)
def test_a_file_of_a_pass_begins_with_its_name(name: str) -> None:
    assert (import_module(PASS_MODULES[name]).__doc__ or "").startswith(f"`{name}`: ")


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
    actual = [name for names in python_interface.sections().values() for name in names]
    assert {"moir.convert_model", "moir.errors.ConversionError", "moir.conversion.Observer"} <= set(actual)
    assert all(resolve_name(name) is not None for name in actual)
    functions = {f"moir.{name}" for name in moir.__all__ if inspect.isfunction(getattr(moir, name))}
    assert functions <= set(actual)
    assert len(actual) == len(set(actual))


def test_links_of_files_at_the_root() -> None:
    text = "[a](docs/a.md), [b](CHANGELOG.md), [c](docs/b/c.md#d), [e](https://x.dev), [f](LICENSE)"
    assert moved(text) == "[a](a.md), [b](changelog.md), [c](b/c.md#d), [e](https://x.dev), [f](LICENSE)"


def test_the_search_ranks_texts_before_tables_of_names() -> None:
    listed = re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    texts = [place for place in listed if not place.startswith(("reference/", *GENERATED_TABLES))]
    assert {"preprocessing.md", "language-models.md", "index.md", QUESTIONS} <= set(texts)
    assert min(map(search_boost, texts)) > max(search_boost(place) for place in REFERENCES)
    assert search_boost(QUESTIONS) == max(map(search_boost, listed))
    assert all(any(place.startswith(each) for place in {*listed, *pages()}) for each in GENERATED_TABLES)


@pytest.mark.parametrize("words", ["Hugging Face", "device", "dynamic batch", "mean values", "ovc", "licence", "versions of OpenVINO"])
def test_what_users_search_for_is_in_a_heading_of_the_questions(words: str) -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / QUESTIONS).read_text(encoding="utf-8"), re.MULTILINE)
    assert any(words.lower() in each.lower() for each in headings)


def test_the_navigation_has_every_page() -> None:
    """MkDocs verifies the same when the site is built, and the links."""
    listed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    written = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert listed == written | REFERENCES.keys() | {"index.md", "changelog.md", "security.md", "editors.md"}
    assert pages().keys() - listed == {"LICENSE"}
