"""What docs/extending.md and docs/porting-from-model-optimizer.md show is so: their files are laid out, their commands print what they say.

A fenced block whose first line is a comment with a path is that file. Blocks of `console` are commands behind `$` with their output, where
`…` stands for anything within a line, and on a line of its own for any number of lines. All other blocks are only read.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from pkgutil import resolve_name

import pytest

from moir import model_optimizer
from moir.model_optimizer.api.operations import descriptions
from moir.model_optimizer.import_paths import RENAMED, LegacyImports, resolve
from moir.tools.convert import argument_parser
from tests.unit.test_readme import ROOT, environment

DOCUMENTS = ("extending.md", "porting-from-model-optimizer.md")
MODEL_PROGRAM = "models.py"


def text_of(document: str) -> str:
    """The text of a document."""
    return (ROOT / "docs" / document).read_text(encoding="utf-8")


def blocks(document: str) -> list[tuple[str, str]]:
    """Language and text of the fenced blocks."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text_of(document), re.MULTILINE | re.DOTALL)


def files(document: str) -> dict[str, str]:
    """The files of a document by path. Comments stay where the language has them."""
    found: dict[str, str] = {}
    for language, text in blocks(document):
        first, _, rest = text.partition("\n")
        if match := re.fullmatch(r"(?:#|//) ([\w./]+\.(?:py|json|mlir))", first):
            assert match[1] not in found, f"{match[1]} is in {document} twice"
            found[match[1]] = rest if language == "json" else text
    return found


def _line_pattern(line: str) -> str:
    """The width of columns does not matter."""
    return re.sub(r"(?:\\ )+", " +", re.escape(line)).replace("…", ".*") + r"\n"


@dataclass(frozen=True)
class Command:
    """A command line and the lines it prints."""

    line: str
    expected: tuple[str, ...]

    @property
    def pattern(self) -> str:
        """A regular expression for what it prints."""
        return "".join(r"(?:.*\n)*" if line == "…" else _line_pattern(line) for line in self.expected)


def commands(document: str) -> list[Command]:
    """The commands of a document, in order."""
    found: list[Command] = []
    for language, text in blocks(document):
        if language == "console":
            lines = text.splitlines()
            for index, line in enumerate(lines):
                if line.startswith("$ "):
                    found.append(Command(line[2:], tuple(takewhile(lambda each: not each.startswith("$ "), lines[index + 1 :]))))
    return found


def lay_out(document: str, folder: Path) -> None:
    """Write the files of a document. That about porting goes on with those of the first one."""
    for path, text in {**files("extending.md"), **files(document)}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_print_what_the_document_says(document: str, tmp_path: Path) -> None:
    lay_out(document, tmp_path)
    assert commands(document)[0].line == f"python {MODEL_PROGRAM}"
    for command in commands(document):
        options = {"shell": True, "cwd": tmp_path, "env": environment(), "text": True, "check": False}
        finished = subprocess.run(command.line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
        assert re.fullmatch(command.pattern, finished.stdout), f"$ {command.line}\n{finished.stdout}"
        assert (finished.returncode != 0) == (": error: " in finished.stdout), f"{command.line}: {finished.returncode}"


def test_there_are_four_examples_and_each_compares_numbers() -> None:
    written = files("extending.md")
    assert {path.partition("/")[0] for path in written if "/" in path} == {
        *("quantile", "determinant", "fusions", "sums"),
        *("cycle", "mistakes"),
    }
    programs = [path for path in written if path.startswith("run_")]
    run = [command.line for command in commands("extending.md")]
    assert len(programs) == 4
    assert all("assert_allclose" in written[program] and f"python {program}" in run for program in programs)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_is_used(document: str) -> None:
    lines = " ".join(command.line for command in commands(document))
    named = set(re.findall(r"[\w.]+", lines))
    assert [path for path in files(document) if path.partition("/")[0] not in named] == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_paths_and_options_exist(document: str) -> None:
    text = text_of(document)
    for path in re.findall(r"`((?:moir|tests|docs)/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / "docs" / path).exists(), path
    known = {option for action in argument_parser()._actions for option in action.option_strings} | {"--resume-after"}
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)) <= known


@pytest.mark.parametrize("document", DOCUMENTS)
def test_lines_are_short(document: str) -> None:
    assert [line for line in text_of(document).splitlines() if len(line) > 200] == []


def test_configurations_are_json() -> None:
    texts = [text for path, text in files("extending.md").items() if path.endswith(".json")]
    assert all(isinstance(json.loads(text), list) for text in texts)
    assert len(texts) == 2


def rows(heading: str) -> list[list[str]]:
    """The rows of the table below a heading of the document about porting."""
    section = text_of("porting-from-model-optimizer.md").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("| ")][2:]


def test_the_modules_of_the_table_have_the_names_it_lists() -> None:
    listed = [(row[0], row[1]) for row in rows("Import paths")]
    assert len(listed) > 15
    with LegacyImports():
        for modules, names in listed:
            for module in re.findall(r"`([\w.]+)`", modules):
                for name in re.findall(r"`(\w+)`", names):
                    assert resolve(module, name) is not None, f"{module}.{name}"


def test_the_members_of_the_tables_exist() -> None:
    from moir.model_optimizer.api import configured_replacement, replacement, subgraph_match
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


def test_the_operations_of_the_document_are_those_there_are() -> None:
    listed = text_of("porting-from-model-optimizer.md").partition("### All operations\n")[2].rpartition("\n\n")[2]
    assert set(re.findall(r"\w+", listed)) == set(descriptions())


def test_the_way_of_a_transformation_names_what_exists() -> None:
    named = re.findall(r"`([a-z]\w*(?:\.\w+)+)`", model_optimizer.__doc__ or "")
    assert len(named) > 15
    for name in named:
        assert resolve_name(name if name.startswith("moir.") else f"moir.model_optimizer.{name}") is not None
