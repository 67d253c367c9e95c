"""The grammar for editors: it is that of today's dialects, and colours what moir prints."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import onnx
import pytest

from moir.dialects.opset import FAMILIES
from moir.tools.opt import main as moir_opt
from scripts import editor_grammar
from tests.unit.small_models import loop_model, matmul_model, save

GRAMMAR: dict[str, Any] = json.loads(editor_grammar.FILE.read_text(encoding="utf-8"))


def test_the_file_is_up_to_date() -> None:
    assert editor_grammar.main(["--check"]) == 0, "python -m scripts.editor_grammar"


def test_the_extension_names_the_grammar() -> None:
    folder = editor_grammar.FILE.parents[1]
    package = json.loads((folder / "package.json").read_text())
    (entry,) = package["contributes"]["grammars"]
    assert (folder / entry["path"]).resolve() == editor_grammar.FILE
    assert entry["scopeName"] == GRAMMAR["scopeName"]
    for language in package["contributes"]["languages"]:
        json.loads((folder / language["configuration"]).read_text())


def rules() -> list[dict[str, Any]]:
    return [rule for each in GRAMMAR["patterns"] for rule in GRAMMAR["repository"][each["include"][1:]]["patterns"]]


def tokens(line: str) -> Iterator[tuple[str, str]]:
    """The scopes and texts of the tokens of a line."""
    return ((name, line[start:end]) for name, start, end in places(line))


def places(line: str) -> Iterator[tuple[str, int, int]]:
    """The tokens of a line, as an editor finds them: the leftmost match, of several the one of the first rule."""
    compiled = [(rule, re.compile(rule.get("match") or rule["begin"])) for rule in rules()]
    position = 0
    while True:
        actual = [
            (match.start(), number, rule, match)
            for number, (rule, each) in zip(count(), compiled)
            if (match := each.search(line, position))
        ]
        if not actual:
            return
        start, _, rule, match = min(actual, key=lambda each: each[:2])
        end = match.end()
        if "begin" in rule:
            end = start + 1
            while end < len(line) and line[end] != '"':
                end += 2 if line[end] == "\\" else 1
            end += 1
        assert end > start
        yield rule["name"], start, end
        position = end


@pytest.fixture
def text(request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    model: onnx.ModelProto = request.param()
    assert moir_opt([str(save(model, tmp_path / "m.onnx")), *(["-p", "default"] if model.graph.node[0].domain == "" else [])]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("text", [loop_model, matmul_model, lambda: matmul_model("Mystery", "com.acme")], indirect=True)
def test_what_moir_prints_is_coloured(text: str) -> None:
    seen: set[str] = set()
    for line in text.splitlines():
        actual = list(tokens(line))
        seen.update(name for name, _ in actual)
        operation = re.match(r"\s*(?:(?:%[\w, %:]+) = )?([a-z_0-9]+\.[\w.]+)", line)
        named = [token for name, token in actual if name.startswith("meta.operation")]
        assert named == ([operation[1]] if operation else []), line
        # All that is left is punctuation.
        rest = line
        for _, start, end in places(line):
            rest = rest[:start] + " " * (end - start) + rest[end:]
        assert re.fullmatch(r"[\s{}()\[\]<>=:,x-]*", rest), (line, rest)
    assert not any(name.startswith("invalid") for name in seen)
    assert {"variable.other.moir", "storage.type.element.moir", "string.quoted.double.moir", "constant.numeric.shape.moir"} <= seen


def test_operations_that_do_not_exist_are_mistakes() -> None:
    for family in FAMILIES.values():
        for name in family.split():
            (token,) = tokens(name)
            assert token == (f"meta.operation.{name.partition('.')[0]}.moir", name)
            assert next(tokens(f"{name}x"))[0].startswith("invalid")
    assert next(tokens("opset99.Add"))[0].startswith("invalid")
    assert [name for name, _ in tokens('"opset1.Nothing"  // opset1.Nothing')] == [
        "string.quoted.double.moir",
        "comment.line.double-slash.moir",
    ]
