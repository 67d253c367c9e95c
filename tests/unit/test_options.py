"""The tables of docs/options.md have every option of the installed `ovc`, and name options that moir has."""

from __future__ import annotations

import inspect
import re

import openvino
import pytest
from openvino.tools.ovc.cli_parser import get_all_cli_parser

import moir
from moir.interface import EXAMPLE_INPUT
from moir.options import DISABLED_VARIABLE, ENABLED_VARIABLE
from moir.tools.convert import argument_parser
from moir.tools.former_options import FLAGS, TRANSLATED, UNNECESSARY
from tests.unit.documents import text_of

WITHOUT_OPTION = {"*always*", "*automatic*", "*accepted*", "*not yet*", "*no*"}
"""What stands in the place of an option; the document says what they mean."""


def rows(heading: str) -> list[list[str]]:
    """The rows of the tables below a heading, with those of its sub-headings."""
    section = re.split(r"\n## ", text_of("docs/options.md").partition(f"\n## {heading}\n")[2])[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in cells if "`" in row[0]]


def names(cell: str) -> list[str]:
    """The names between backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def options() -> set[str]:
    """All options of `moir` that do something, in every spelling."""
    parser = argument_parser()
    shown = {option for action in parser._actions for option in action.option_strings}
    return shown | parser.spellings.keys() | TRANSLATED.keys() | FLAGS.keys()


TABLES = ("ovc", "openvino.convert_model", "mo")
ROWS = [row for table in TABLES for row in rows(table)]


def test_every_option_of_ovc_is_listed() -> None:
    actions = [action for action in get_all_cli_parser()._actions if action.dest != "help"]
    known = {name for action in actions for name in action.option_strings or [action.dest.upper()]}
    listed = {name for row in rows("ovc") for name in names(row[0])} - {"-h", "--help"}
    assert listed == known


def test_every_parameter_of_openvino_is_listed() -> None:
    listed = {name for row in rows("openvino.convert_model") for name in names(row[0])}
    assert set(inspect.signature(openvino.convert_model).parameters) <= listed


def test_options_of_mo_are_listed_once() -> None:
    listed = [name for row in rows("mo") for name in names(row[0])]
    assert len(listed) > 80
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_is_named_for_moir_exists(row: list[str]) -> None:
    known = options() | {str(action.metavar) for action in argument_parser()._actions if not action.option_strings}
    assert row[1] in WITHOUT_OPTION or names(row[1])
    for name in names(row[1]):
        if keyword := re.fullmatch(r"(\w+)\((\w+)=…\)", name):
            accepted = {*inspect.signature(getattr(moir, keyword[1])).parameters, EXAMPLE_INPUT}
            assert keyword[2] in accepted
        else:
            assert name in known | {ENABLED_VARIABLE, DISABLED_VARIABLE}


def test_options_in_explanations_exist() -> None:
    for row in ROWS:
        mentioned = {word.partition("=")[0] for name in names(row[-1]) for word in name.split() if word.startswith("--")}
        assert mentioned <= options() | {"--static_shape"}, row


def test_options_that_are_said_to_be_missing_are() -> None:
    missing = {name for row in ROWS if row[1] in {"*not yet*", "*no*"} for name in names(row[0]) if name.startswith("--")}
    assert not missing & options()


def test_options_that_are_said_to_be_accepted_are() -> None:
    accepted = {name for row in ROWS if row[1] == "*accepted*" for name in names(row[0])}
    assert accepted == UNNECESSARY.keys()
