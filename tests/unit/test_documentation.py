"""What the documents say is so: their commands print what they show, what they name exists, and their lines are short.

`tests/unit/documents.py` says how a document is written. README.md, contributing.md and options.md have further tests in
files of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from pkgutil import resolve_name

import pytest

from moir import model_optimizer
from moir.model_optimizer.api.operations import descriptions
from moir.model_optimizer.import_paths import RENAMED, LegacyImports, resolve
from moir.tools.convert import argument_parsers
from scripts.porting_tables import with_tables
from tests.unit.documents import (
    DOCUMENTS,
    ROOT,
    commands,
    files,
    is_synopsis,
    lay_out,
    place_digits,
    place_models,
    run_commands,
    shell_commands,
    text_of,
)
from tests.unit.language_models.folders import write_folder

EXTENDING, PORTING, NAMES = "docs/extending.md", "docs/porting-from-model-optimizer.md", "docs/model-optimizer-names.md"
MODEL_PROGRAM = "models.py"


def nothing(folder: Path) -> None:
    """For documents that lay out all files that their commands need."""


def onnx_models(folder: Path) -> None:
    """The models of the tutorial about ONNX."""
    place_digits(folder)
    place_models(folder)


def torch(_: Path) -> None:
    """Nothing but PyTorch, without which the commands are not run."""
    pytest.importorskip("torch")


def language_model(folder: Path) -> None:
    """The folder of a language model."""
    write_folder(folder / "Llama-3.2-1B")


def files_of_extending(folder: Path) -> None:
    """The document about porting goes on with the files of that about extending."""
    lay_out(EXTENDING, folder)


PREPARED: dict[str, Callable[[Path], None]] = {
    "docs/batch.md": onnx_models,
    "docs/certificate.md": onnx_models,
    "docs/checking.md": onnx_models,
    "docs/compression.md": onnx_models,
    "docs/debugging.md": nothing,
    EXTENDING: nothing,
    "docs/frameworks.md": nothing,
    PORTING: files_of_extending,
    "docs/inspecting.md": onnx_models,
    "docs/older-runtimes.md": onnx_models,
    "docs/onnx-output.md": onnx_models,
    "docs/recipes.md": onnx_models,
    "docs/tutorials/compiler.md": nothing,
    "docs/tutorials/genai.md": language_model,
    "docs/tutorials/keras.md": nothing,
    "docs/tutorials/old-extension.md": nothing,
    "docs/tutorials/onnx.md": onnx_models,
    "docs/tutorials/pytorch.md": torch,
}
"""The documents whose commands are run here, with what prepares the folder."""


@pytest.mark.parametrize("document", PREPARED)
def test_commands_print_what_the_document_says(document: str, tmp_path: Path) -> None:
    PREPARED[document](tmp_path)
    lay_out(document, tmp_path)
    assert commands(document)
    run_commands(document, tmp_path)


def test_no_document_has_commands_that_are_not_run() -> None:
    assert {document for document in DOCUMENTS if commands(document)} == {"README.md", *PREPARED}


def test_there_are_four_examples_and_each_compares_numbers() -> None:
    written = files(EXTENDING)
    assert {path.partition("/")[0] for path in written if "/" in path} == {
        *("quantile", "determinant", "fusions", "sums"),
        *("cycle", "mistakes"),
    }
    programs = [path for path in written if path.startswith("run_")]
    run = [command.line for command in commands(EXTENDING)]
    assert len(programs) == 4
    assert all("assert_allclose" in written[program] and f"python {program}" in run for program in programs)


@pytest.mark.parametrize("document", PREPARED)
def test_every_file_is_used(document: str) -> None:
    lines = " ".join(command.line for command in commands(document))
    named = set(re.findall(r"[\w.-]+", lines))
    assert [path for path in files(document) if path.partition("/")[0] not in named] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_what_a_document_names_exists(document: str) -> None:
    text = text_of(document)
    for path in re.findall(r"`((?:moir|tests|docs|scripts|benchmarks|examples)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", text):
        place = (ROOT / document).parent / path
        # The pages of reference are generated, and the links to them are verified, when the site is built.
        assert place.exists() or place.parent.name == "reference", path


def named_commands(document: str) -> Iterator[list[str]]:
    """The commands of the tools in a document, in blocks and between backquotes, as words."""
    lines = [command.line for command in commands(document)] + [" ".join(command) for command in shell_commands(document)]
    lines += re.findall(r"`(moir(?:-opt)? [^`]+)`", text_of(document))
    for line in lines:
        for part in re.split(r" [|>] ?", line):
            words = part.split()
            if words and words[0] in ("moir", "moir-opt"):
                yield words


@pytest.mark.parametrize("document", DOCUMENTS)
def test_options_exist(document: str) -> None:
    actual = argument_parsers()
    for words in named_commands(document):
        name = " ".join(words[:2]) if " ".join(words[:2]) in actual else words[0]
        given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert given <= set(actual[name]._option_string_actions), " ".join(words)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_lines_are_short(document: str) -> None:
    """Rows of tables and what tools print cannot be wrapped."""
    text = re.sub(r"^```.*?^```$", "", text_of(document), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")] == []


def test_commands_that_are_only_shown_are_synopses() -> None:
    """A block of `sh` outside of README.md says how a command is used in general; what it is to print is a block of `console`."""
    shown = [command for document in PREPARED for command in shell_commands(document)]
    others = [command for command in shown if not is_synopsis(command) and command[1:4] != ["-m", "pip", "install"]]
    # A cluster has other machines than this one, and addresses are those of others.
    elsewhere = [command for command in others if "--shard" in command or any("://" in each for each in command)]
    assert [command for command in others if command[0] != "dask" and command not in elsewhere] == []


def test_the_plan_of_the_architecture_has_every_file_and_folder_of_the_package() -> None:
    plan = re.findall(r"^ +([\w.]+)/? ", text_of("docs/architecture.md").partition("```\n")[2].partition("```")[0], re.MULTILINE)
    package = [path for path in (ROOT / "moir").iterdir() if not path.name.startswith("__")]
    assert {path.name for path in package if path.is_dir() or path.suffix == ".py"} - set(plan) == set()


def test_configurations_are_json() -> None:
    texts = [text for path, text in files(EXTENDING).items() if path.endswith(".json")]
    assert all(isinstance(json.loads(text), list) for text in texts)
    assert len(texts) == 2


def rows(heading: str, document: str = PORTING) -> list[list[str]]:
    """The rows of the table below a heading of a document."""
    section = text_of(document).partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| ")][2:]


def test_the_modules_of_the_table_have_the_names_it_lists() -> None:
    listed = [(row[0], row[1]) for row in rows("Modules", NAMES)]
    assert len(listed) > 15
    with LegacyImports():
        for modules, names in listed:
            for module in re.findall(r"`([\w.]+)`", modules):
                for name in re.findall(r"`(\w+)`", names):
                    assert resolve(module, name) is not None, f"{module}.{name}"


def test_the_members_of_the_tables_exist() -> None:
    from moir.model_optimizer.api.transformations import configured_replacement, replacement, subgraph_match
    from moir.model_optimizer.graph import graph, node, operation, port

    places = (configured_replacement, replacement, subgraph_match, graph, node, operation, port)
    checked = 0
    for heading in ("Transformations", "Operations and nodes", "Ports and connections", "The graph"):
        for row in rows(heading):
            for name, members in re.findall(r"`([A-Z]\w+)`: ((?:`\w+`(?:, )?)+)", row[0]):
                ours = RENAMED.get(name, name)
                owner = next(getattr(place, ours) for place in places if hasattr(place, ours))
                for member in re.findall(r"`(\w+)`", members):
                    assert hasattr(owner, member) or member in getattr(owner, "__slots__", ()), f"{name}.{member}"
                    checked += 1
    assert checked > 100


def test_the_tables_of_the_document_are_up_to_date() -> None:
    text = text_of(NAMES)
    assert with_tables(text) == text, "run `python -m scripts.porting_tables`"


def test_the_operations_of_the_document_are_those_there_are() -> None:
    listed = text_of(NAMES).partition("## Operations\n")[2].rpartition("\n\n")[2]
    assert set(re.findall(r"\w+", listed)) == set(descriptions())


def test_the_way_of_a_transformation_names_what_exists() -> None:
    named = re.findall(r"`([a-z]\w*(?:\.\w+)+)`", model_optimizer.__doc__ or "")
    assert len(named) > 15
    for name in named:
        assert resolve_name(name if name.startswith("moir.") else f"moir.model_optimizer.{name}") is not None
