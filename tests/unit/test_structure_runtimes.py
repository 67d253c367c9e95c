"""What a runtime does is known to the targets: no other code, message or comment names a runtime, a version or a plugin."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2] / "moir"

NAMED = re.compile(
    r"\bplugins?\b|\bthe runtime(?! information)\b|\b20[2-9]\d\.\d\b"
    r"|openvino(?! tokenizers| ir\b|(?:'s)? operation|_tokenizers|_ir\b|_cpu\b|-cpu\b)",
    re.IGNORECASE,
)
"""A runtime, a version of it, or a plugin. OpenVINO's operation sets are a specification, as is that of OpenVINO
Tokenizers; OpenVINO IR is a format, and `openvino_ir` the framework that has it.
"""

OWNERS = {
    "__init__.py": "says what moir is for",
    "bisection": "runs models",
    "certificate": "runs models",
    "checking": "runs models",
    "emit/__init__.py": "names the functions of `in_memory.py`",
    "emit/in_memory.py": "makes models of OpenVINO in memory",
    "execution": "runs models",
    "expansions/strings/tokenizers.py": "has operations of OpenVINO Tokenizers, of one version of it",
    "frameworks": "has the names that OpenVINO's extensions give to the framework of its IR",
    "frontends/openvino_ir": "reads the framework of this name",
    "interface.py": "returns models of OpenVINO in memory",
    "language_models": "writes folders for OpenVINO GenAI",
    "model_optimizer": "provides interfaces of OpenVINO's packages under their names",
    "parameters": "describes the targets, and the models in memory, to users",
    "passes/state": "gives caches and masks the form that OpenVINO GenAI takes",
    "targets": "has what a runtime does",
    "testing": "runs models",
    "tokenizers": "writes models for OpenVINO Tokenizers",
    "tools": "tells users how to run models",
}
"""The rooms that have to name a runtime, each with the reason."""


def room_of(path: Path) -> str:
    """The longest entry of `OWNERS` that a file is in; its first folder if there is none."""
    name = path.relative_to(ROOT).as_posix()
    rooms = [each for each in OWNERS if name == each or name.startswith(f"{each}/")]
    return max(rooms, key=len, default=name.partition("/")[0])


def lines_naming_runtimes() -> list[tuple[str, str]]:
    """The room of each line that names a runtime, with its file, number and text."""
    results: list[tuple[str, str]] = []
    for path in sorted(ROOT.rglob("*.py")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if NAMED.search(line):
                results.append((room_of(path), f"{path.relative_to(ROOT.parent)}:{number}: {line.strip()}"))
    return results


def test_runtimes_are_named_by_their_owners_only() -> None:
    assert not [line for room, line in lines_naming_runtimes() if room not in OWNERS]


def test_no_room_is_listed_without_a_line() -> None:
    assert {*OWNERS} <= {room for room, _ in lines_naming_runtimes()}
