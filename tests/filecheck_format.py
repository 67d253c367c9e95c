"""A lit test format that runs our tools and filecheck inside the worker.

A test is a file with `RUN:` lines. A line made of `moir`, `moir-opt`, `filecheck` and `not`, joined by pipes and redirections, is run by
calling the tools; a test with any other line is run by lit's own shell. With MOIR_LIT_PROCESSES=1 all of them are: slower, but as a user
runs them.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path

import lit.Test
import lit.TestRunner
from filecheck.main import main as filecheck_main
from lit.formats import ShTest
from lit.ShUtil import Command, Pipeline, ShParser

from moir.tools.convert import main as moir_main
from moir.tools.opt import main as moir_opt_main

TOOLS: dict[str, Callable[[list[str]], int | None]] = {
    "moir": moir_main,
    "moir-opt": moir_opt_main,
    "filecheck": lambda arguments: filecheck_main(["filecheck", *arguments]),
}

_POSITION = re.compile(lit.TestRunner.kPdbgRegex)


@dataclass
class Outcome:
    """The result of a command: exit status and output."""

    status: int
    stdout: bytes
    stderr: bytes


@dataclass
class Call:
    """One call of a tool: its arguments, and the files its streams are redirected to."""

    tool: str
    arguments: list[str]
    negated: bool = False
    merge_stderr: bool = False
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, command: Command) -> Call | None:
        """The call a command of the shell stands for; None if it is none of a tool, or its redirections are unusual."""
        words = [word for word in command.args if isinstance(word, str)]
        if len(words) < len(command.args):
            return None
        negated = words[:1] == ["not"]
        words = words[negated:]
        if not words or words[0] not in TOOLS:
            return None
        call = cls(words[0], words[1:], negated)
        for operator, target in command.redirects:
            if operator == (">&", 2) and target == "1":
                call.merge_stderr = True
            elif operator in ((">",), ("<",), (">", 2)) and isinstance(target, str):
                call.files["2>" if len(operator) == 2 else operator[0]] = target
            else:
                return None
        # Which stream goes where then depends on the order.
        return None if call.merge_stderr and call.files.keys() - {"<"} else call

    def run(self, stdin: bytes) -> Outcome:
        """Call the tool in the current folder."""
        if "<" in self.files:
            stdin = Path(self.files["<"]).read_bytes()
        output = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        errors = output if self.merge_stderr else io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        saved = sys.stdin, sys.stdout, sys.stderr
        sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(stdin), "utf-8"), output, errors
        try:
            status = TOOLS[self.tool](self.arguments) or 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            sys.stdin, sys.stdout, sys.stderr = saved
        if self.negated:
            status = int(status == 0)
        written = output.buffer.getvalue()
        complaints = b"" if self.merge_stderr else errors.buffer.getvalue()
        if ">" in self.files:
            Path(self.files[">"]).write_bytes(written)
            written = b""
        if "2>" in self.files:
            Path(self.files["2>"]).write_bytes(complaints)
            complaints = b""
        return Outcome(status, written, complaints)


class FileCheckFormat(ShTest):
    """The format.

    Args:
        processes: run every command as a process.
    """

    def __init__(self, *, processes: bool) -> None:
        super().__init__()
        self.processes = processes

    def execute(self, test, litConfig):
        pipelines = None if self.processes or litConfig.noExecute else self._pipelines(test)
        if pipelines is None:
            return super().execute(test, litConfig)
        folder = Path(test.getExecPath()).parent
        folder.mkdir(parents=True, exist_ok=True)
        with chdir(folder):
            for line, calls in pipelines:
                report = _run_pipeline(calls)
                if report:
                    return lit.Test.Result(lit.Test.FAIL, f"RUN: {line}\n{report}")
        return lit.Test.Result(lit.Test.PASS)

    @staticmethod
    def _pipelines(test) -> list[tuple[str, list[Call]]] | None:
        """The lines of a test and the calls they are made of; None if there is a line that needs a shell."""
        script = lit.TestRunner.parseIntegratedTestScript(test)
        if not isinstance(script, list):
            return None
        folder, base = lit.TestRunner.getTempPaths(test)
        Path(folder).mkdir(parents=True, exist_ok=True)
        substitutions = lit.TestRunner.getDefaultSubstitutions(test, folder, base)
        pipelines: list[tuple[str, list[Call]]] = []
        for line in lit.TestRunner.applySubstitutions(script, substitutions):
            match = _POSITION.match(line)
            text = match[2] if match else line
            parsed = ShParser(text).parse()
            if not isinstance(parsed, Pipeline) or parsed.negate:
                return None
            calls = [Call.of(command) for command in parsed.commands]
            if None in calls:
                return None
            pipelines.append((text, calls))
        return pipelines


def _run_pipeline(calls: list[Call]) -> str:
    """Run a pipeline; nothing if all of its commands succeed, else what they said."""
    data = b""
    said: list[str] = []
    failed = False
    for call in calls:
        outcome = call.run(data)
        data = outcome.stdout
        if outcome.stderr:
            said.append(outcome.stderr.decode(errors="replace"))
        if outcome.status != 0:
            said.append(f"{'not ' if call.negated else ''}{call.tool} ended with status {outcome.status}")
            failed = True
    return "\n".join([*said, data.decode(errors="replace")]) if failed else ""


def runs_processes() -> bool:
    """Whether the environment asks for real processes."""
    return os.environ.get("MOIR_LIT_PROCESSES", "") not in ("", "0")
