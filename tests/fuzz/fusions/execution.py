"""Running an IR in a process of its own, under limits of the instruction set and switches of the plugin."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from tests.fuzz.draw import Array, Draw
from tests.numerical.outcomes import Outcome, interface_difference, last_line
from tests.numerical.runtime import IN_FLOATS, core, infer, prepared, use_one_thread

MEMORY_LIMIT = 8 << 30
"""Bytes that a run may map beyond what the process has mapped that it is a fork of, such as frameworks."""

INSTRUCTIONS = ("", "", "AVX512_CORE_VNNI", "AVX512_CORE", "AVX2")
"""Values of ONEDNN_MAX_CPU_ISA; with the first one the runtime uses all that the processor has."""

SNIPPETS = ("ENABLE", "ENABLE", "ENABLE", "DISABLE")
"""Values of SNIPPETS_MODE: whether the plugin generates code for chains of operations."""

WITHOUT_WIDE_SUMS = frozenset(("AVX512_CORE", "AVX2"))
"""Limits under which products of 8-bit integers are added in 16 bits."""


@dataclass(frozen=True)
class Switches:
    """How the runtime computes.

    Args:
        instructions: the value of ONEDNN_MAX_CPU_ISA.
        snippets: the value of SNIPPETS_MODE.
        floats: whether quantized models are computed in floats.
    """

    instructions: str = ""
    snippets: str = "ENABLE"
    floats: bool = False

    def __str__(self) -> str:
        return f"{self.instructions or 'all instructions'}, snippets {self.snippets}"

    @property
    def properties(self) -> dict[str, str]:
        """The properties that the model is compiled with."""
        result = {} if self.snippets == "ENABLE" else {"SNIPPETS_MODE": self.snippets}
        return {**result, **(IN_FLOATS if self.floats else {})}


def drawn_switches(draw: Draw, instructions: Sequence[str] = INSTRUCTIONS) -> Switches:
    """Switches of a case."""
    return Switches(draw.one_of(instructions), draw.one_of(SNIPPETS))


@dataclass(frozen=True)
class Run:
    """What became of an IR.

    Args:
        outcome: EQUAL if it ran, whatever its results are.
        message: what was said about it.
        results: its results, in the order of its outputs.
    """

    outcome: Outcome
    message: str = ""
    results: Sequence[Array] = ()


def executed(
    xml: Path, inputs: Mapping[str, Array], outputs: Sequence[str], expected: Sequence[Array], switches: Switches, limit: float = 60.0
) -> Run:
    """Run an IR in a fork of this process, which must not have used the runtime so far.

    Args:
        xml: the IR.
        inputs: values of its inputs.
        outputs, expected: what its interface must be like.
        switches: how the runtime computes.
        limit: seconds that it may take.
    """
    receive, send = os.pipe()
    child = os.fork()
    if not child:
        os.close(receive)
        _compute(send, xml, inputs, outputs, expected, switches)
    os.close(send)
    content, end = b"", time.monotonic() + limit
    while True:
        ready = wait([receive], max(0.0, end - time.monotonic()))
        if not ready:
            os.kill(child, signal.SIGKILL)
            break
        piece = os.read(receive, 1 << 20)
        if not piece:
            break
        content += piece
    os.close(receive)
    _, status = os.waitpid(child, 0)
    stage, *pieces = content.split(b"\n", 1) if content else (b"start", b"")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 and pieces and pieces[0]:
        actual: Run = pickle.loads(pieces[0])
        return actual
    if not ready:
        return Run(Outcome.HANG, f"no answer after {limit:.0f} s")
    reason = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"exit status {os.WEXITSTATUS(status)}"
    return Run(Outcome.CRASH, f"{reason} during {'compile or run' if stage == b'begun' else 'the start'}")


def _compute(
    send: int, xml: Path, inputs: Mapping[str, Array], outputs: Sequence[str], expected: Sequence[Array], switches: Switches
) -> None:
    """What the fork does: it writes a Run and ends."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit = _mapped() + MEMORY_LIMIT
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if switches.instructions:
            os.environ["ONEDNN_MAX_CPU_ISA"] = switches.instructions
        os.write(send, b"begun\n")
        os_write_all(send, pickle.dumps(_run(xml, inputs, outputs, expected, switches)))
        os._exit(0)
    except BaseException:
        os._exit(3)


def _mapped() -> int:
    """The bytes that this process has mapped."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def os_write_all(descriptor: int, content: bytes) -> None:
    """Write all bytes."""
    view: Any = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _run(xml: Path, inputs: Mapping[str, Array], outputs: Sequence[str], expected: Sequence[Array], switches: Switches) -> Run:
    use_one_thread()
    try:
        model = core().read_model(xml)
    except Exception as error:
        return Run(Outcome.REJECTED, last_line(error))
    if text := interface_difference(model, list(inputs), outputs, expected):
        return Run(Outcome.WRONG, text)
    try:
        compiled = prepared(model, inputs, switches.properties)
    except Exception as error:
        return Run(Outcome.UNCOMPILED, last_line(error))
    try:
        return Run(Outcome.EQUAL, "", infer(model, compiled, inputs))
    except Exception as error:
        return Run(Outcome.FAILED, last_line(error))
