"""What the options are, in the docstrings of `moir/interface.py`, and their synonyms in `docs/options.md`.

The script writes both files, or compares them with the records:

    python -m scripts.option_texts              writes the files
    python -m scripts.option_texts --check      exit status 1 if a file is not up to date
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from moir.frameworks import BUILT_IN
from moir.parameters import CONVERSION_PARAMETERS, parameters
from moir.parameters.extension import EXTENSION_PARAMETERS
from moir.parameters.parameter import Parameter
from moir.parameters.reading import reading_parameters

ROOT = Path(__file__).parents[1]
INTERFACE, DOCUMENT = ROOT / "moir" / "interface.py", ROOT / "docs" / "options.md"

WIDTH = 120

BEGIN, END = "<!-- written by python -m scripts.option_texts -->\n", "<!-- end of what is written -->\n"


def meaning(parameter: Parameter[Any]) -> str:
    """What a parameter is, in the docstring of `convert_model`."""
    text = parameter.in_python or re.sub(r"--([a-z][a-z-]*)", lambda match: f"`{match[1].replace('-', '_')}`", parameter.help)
    title = f"of {parameter.group}: " if parameter in reading_parameters(BUILT_IN) else ""
    return f"{title}{text}."


def entries(listed: Iterable[Parameter[Any]]) -> str:
    """The entries of parameters in the arguments of a docstring."""
    lines: list[str] = []
    for each in listed:
        lines += textwrap.wrap(
            f"{each.name}: {meaning(each)}",
            WIDTH,
            initial_indent=" " * 8,
            subsequent_indent=" " * 12,
            break_on_hyphens=False,
            break_long_words=False,
        )
    return "".join(f"{line}\n" for line in lines)


def interface(text: str) -> str:
    """`moir/interface.py` with the entries of the parameters in the docstrings of both functions."""
    text = _with_entries(text, "read_model", "path", entries(reading_parameters(BUILT_IN)))
    return _with_entries(
        text,
        "convert_model",
        "input_model",
        entries(each for each in (*CONVERSION_PARAMETERS, *EXTENSION_PARAMETERS) if not each.synonym_of),
    )


def _with_entries(text: str, function: str, first: str, written: str) -> str:
    """The text with entries after that of the first parameter of a function; those of its own stay after them."""
    start = text.index(f"def {function}(")
    names = "|".join(each.name for each in parameters())
    begin = text.index(f"        {first}: ", start)
    end = text.index("\n\n", begin) + 1
    present = re.findall(r"^        \w+: .*\n(?:            .*\n)*", text[begin:end], re.MULTILINE)
    own, *after = (each for each in present if not re.match(rf" +({names}): ", each))
    return text[:begin] + own + written + "".join(after) + text[end:]


def table() -> str:
    """The table of the synonyms, with what they are in moir."""
    lines = ["| synonym | keyword | the same in moir | |\n", "| --- | --- | --- | --- |\n"]
    for each in parameters(BUILT_IN):
        if each.synonym_of:
            flags, same = (", ".join(f"`{name}`" for name in names) for names in (each.flags, each.synonym_of))
            lines.append(f"| {flags} | `{each.name}` | {same} | {each.help.replace('|', chr(92) + '|')} |\n")
    return "".join(lines)


def document(text: str) -> str:
    """`docs/options.md` with the table of synonyms between its marks."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m scripts.option_texts", description="Write what the options are.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with status 1 if a file is not up to date")
    checks: bool = parser.parse_args(arguments).check
    is_current = True
    for path, written in ((INTERFACE, interface), (DOCUMENT, document)):
        present = path.read_text(encoding="utf-8")
        text = written(present)
        if not checks:
            path.write_text(text, encoding="utf-8")
        elif present != text:
            print(f"{path} is not up to date: run python -m scripts.option_texts", file=sys.stderr)
            is_current = False
    return 0 if is_current else 1


if __name__ == "__main__":
    sys.exit(main())
