"""Converts damaged files, each in a process with limits of time and memory, and judges how the conversion ended.

A damaged file is converted or refused with a message. Anything else is a defect: see `Fate`.
"""

from __future__ import annotations

import gc
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

import moir
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import strings_attribute, value_of
from moir.errors import ConversionError, UsageError
from moir.files.recognition import framework_of_file
from moir.frameworks import load
from moir.language_models.folder import save_folder
from moir.rewriting.verification import OperationVerifyException
from tests.fuzz.files.mutations import mutated
from tests.fuzz.files.sample import ROOT, Sample, drawn_sample
from tests.fuzz.files.samples import DRAWN, FORMATS
from tests.numerical.outcomes import innermost, last_line
from tests.numerical.runtime import core, load_tokenizers
from tests.numerical.workers import Died, Say, Workers

DEFAULT_FORMATS = (*FORMATS, "onnx-drawn")
DRAWN_SAMPLES = 400
"""How many random models are damaged, each in many ways."""

SECONDS = 10.0
"""CPU time that a conversion may take."""
LIMIT_SECONDS = 40.0
"""After how long a conversion is stopped. Reading the runtime's answer is within it."""
MEMORY = 200 << 20
MEMORY_FACTOR = 8
"""A conversion may take this memory, and this many times the size of its files."""
ADDRESS_SPACE = 1 << 30
"""Address space that a conversion may take beyond that."""
UNRELATED = "is declared as"
"""What a note says that is no reason for the runtime to refuse the IR."""
_NO_NOTES = strings_attribute([])


class Fate(StrEnum):
    """What became of a damaged file."""

    CONVERTED = "converted"
    REFUSED = "refused"
    CRASH = "crash"
    HANG = "hang"
    MEMORY = "memory"
    INTERNAL = "internal error"
    ESCAPE = "reads outside of its folder"
    LEFTOVER = "leaves files"
    REJECTED = "rejected by the runtime"


DEFECTS = frozenset(Fate) - {Fate.CONVERTED, Fate.REFUSED}


@dataclass(frozen=True)
class Ticket:
    """Which damaged file it is: all that is needed to make it again.

    Args:
        seed, number: of the draws.
        formats: the formats to choose from.
        folder: where the files of defects are kept; None for nowhere.
    """

    seed: int
    number: int
    formats: tuple[str, ...] = DEFAULT_FORMATS
    folder: Path | None = None

    def command(self) -> str:
        """The command that makes this file again, and keeps it."""
        formats = "" if self.formats == DEFAULT_FORMATS else f" --formats {','.join(self.formats)}"
        return f"python -m tests.fuzz.files --seed {self.seed} --case {self.number}{formats}"


@dataclass(frozen=True)
class Report:
    """What became of a damaged file.

    Args:
        sample: the name of the file that was damaged.
        fate: how the conversion ended.
        message: the message of the conversion.
    """

    ticket: Ticket
    sample: str
    fate: Fate
    message: str = ""


def _sample(draw: random.Random, format_: str) -> Sample:
    """A sample of a format."""
    if format_ in FORMATS:
        return draw.choice(FORMATS[format_]())
    return _drawn_sample(format_, draw.randrange(DRAWN_SAMPLES))


@cache
def _drawn_sample(format_: str, number: int) -> Sample:
    module, _, name = DRAWN[format_][1].partition(":")
    return drawn_sample(format_, getattr(import_module(module), name), number)


def damaged(ticket: Ticket) -> Sample:
    """The damaged file of a ticket."""
    draw = random.Random(f"{ticket.seed}/{ticket.number}")
    format_ = draw.choice(ticket.formats)
    sample, other = _sample(draw, format_), _sample(draw, format_)
    # The file that describes the model has the most to damage.
    name = draw.choice([*sample.files, *[name for name in sample.files if name.endswith(sample.model or ".pb")] * 3])
    suffix = name[name.rfind(".") :]
    donors = [content for each, content in other.files.items() if each.endswith(suffix)] or list(other.files.values())
    content = mutated(draw, name, sample.files[name], draw.choice(donors))
    return Sample(f"{sample.name}, {name}", {**sample.files, name: content}, sample.model)


_opened: list[str] | None = None
"""The files that the conversion which is running has opened."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _opened is not None and event == "open" and isinstance(arguments[0], str | bytes):
        _opened.append(arguments[0] if isinstance(arguments[0], str) else arguments[0].decode(errors="replace"))


@cache
def _watch() -> None:
    sys.addaudithook(_audit)


INSTALLED = tuple(str(path) for path in (ROOT, sys.prefix, sys.base_prefix, "/proc/self", "/usr/lib", *sys.path) if path)
"""Where modules, and what the interpreter reads, come from."""


@contextmanager
def _limited(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Limits of one conversion; measures what it takes.

    What is yielded has, at the end, `seconds` of CPU, `bytes` of memory, and the file `outside` that it has opened.
    """
    global _opened
    _watch()
    results: dict[str, Any] = {}
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmHWM")
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = _status("VmSize") + ADDRESS_SPACE + MEMORY_FACTOR * size
    resource.setrlimit(resource.RLIMIT_AS, (allowed if hard < 0 else min(hard, allowed), hard))
    _opened = []
    start = time.process_time()
    try:
        yield results
    finally:
        opened, _opened = _opened, None
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        results["seconds"] = time.process_time() - start + ended.ru_utime + ended.ru_stime - children.ru_utime - children.ru_stime
        results["bytes"] = _status("VmHWM") - before
        # HDF5 files are read by a process of their own, which writes to a file without a name in the temporary folder,
        # and limits its memory itself.
        places = (str(folder), os.devnull, *INSTALLED)
        results["outside"] = next(
            (name for name in opened if name.startswith("/") and not name.startswith(places) and name != tempfile.gettempdir()), ""
        )


def _status(field: str) -> int:
    """A size of this process, in bytes."""
    text = Path("/proc/self/status").read_text()
    return int(text.partition(f"{field}:")[2].split()[0]) << 10


def judged(sample: Sample, folder: Path, say: Say = lambda _: None) -> tuple[Fate, str]:
    """Convert a sample in an empty folder, and report how the conversion ended."""
    model = sample.write(folder / "model")
    (folder / "out").mkdir()
    xml = folder / "out" / "m.xml"
    beside: Sequence[str] = ()
    error: BaseException | None = None
    notes: Sequence[str] = ()
    say("convert")
    with _limited(sample.size, folder) as taken:
        try:
            module = moir.convert_model(model)
            beside = _save(module, model, xml)
            notes = [note for each in models_of(module) for note in value_of(each.attributes.get(ModuleLevel.NOTES, _NO_NOTES))]
        except Exception as raised:
            error = raised
    fate, message = _fate_of(error)
    written = {path.name for path in (folder / "out").iterdir()}
    if fate not in DEFECTS:
        if taken["seconds"] > SECONDS:
            fate, message = Fate.HANG, f"{taken['seconds']:.1f} s"
        elif taken["bytes"] > MEMORY + MEMORY_FACTOR * sample.size:
            fate, message = Fate.MEMORY, f"{taken['bytes'] >> 20} MB; {message}"
        elif taken["outside"]:
            fate, message = Fate.ESCAPE, taken["outside"]
        elif written != ({"m.xml", "m.bin", *beside} if fate == Fate.CONVERTED else set()) or _changed(sample, folder / "model"):
            fate, message = Fate.LEFTOVER, ", ".join(sorted(written))
    if fate == Fate.CONVERTED and all(UNRELATED in note for note in notes):
        say("read")
        try:
            if beside:
                load_tokenizers()
            for each in ("m.xml", *(name for name in beside if name.endswith(".xml"))):
                core().read_model(xml.with_name(each))
        except Exception as refusal:
            return Fate.REJECTED, last_line(refusal)
    return fate, message


def _save(module: ModuleOp, model: Path, xml: Path) -> Sequence[str]:
    """Write a model, with its tokenizer and configurations if it is a language model; returns the names of these."""
    companions = framework_of_file(model).companions
    if companions is None:
        moir.save_model(module, xml)
        return ()
    beside = load(companions)(model, True)
    save_folder(module, xml, beside)
    return beside.names


def _fate_of(error: BaseException | None) -> tuple[Fate, str]:
    match error:
        case None:
            return Fate.CONVERTED, ""
        case ConversionError() | UsageError() | RecursionError():
            return Fate.REFUSED, str(error)[:400]
        case OperationVerifyException() if not re.search("erased|not defined before|another block", str(error)):
            # It names the operation and the node, and what its definition demands.
            return Fate.REFUSED, str(error)[:400]
        case MemoryError():
            return Fate.MEMORY, innermost(error)
        case _:
            return Fate.INTERNAL, innermost(error)


def _changed(sample: Sample, folder: Path) -> bool:
    """Whether a conversion has changed the files that it was given."""
    results = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return results != set(sample.files)


def run_case(ticket: Ticket, say: Say) -> Report:
    """Make a damaged file and judge it. The task of a worker."""
    if ticket.number % 16 == 0:
        gc.collect()
    sample = damaged(ticket)
    with tempfile.TemporaryDirectory() as text:
        fate, message = judged(sample, Path(text), lambda stage: say(f"{sample.name}\n{stage}"))
    if fate in DEFECTS:
        keep(ticket, sample)
    return Report(ticket, sample.name, fate, message)


def keep(ticket: Ticket, sample: Sample) -> None:
    """Keep the files of a defect."""
    if ticket.folder is not None:
        shutil.rmtree(ticket.folder / str(ticket.number), ignore_errors=True)
        sample.write(ticket.folder / str(ticket.number))


def run(tickets: Sequence[Ticket], workers: int = 1, limit: float = LIMIT_SECONDS) -> Iterator[Report]:
    """The report of each damaged file, in the order in which they come."""
    pool: Workers[Ticket, Report] = Workers(run_case, workers, limit)
    for ticket, answer in pool.run(tickets):
        if isinstance(answer, Died):
            name, _, stage = answer.stage.partition("\n")
            keep(ticket, damaged(ticket))
            fate = Fate.HANG if answer.hung else Fate.REJECTED if stage == "read" else Fate.CRASH
            yield Report(ticket, name, fate, f"{answer.reason} during {stage or 'the start'}")
        else:
            yield answer


def counts(reports: Sequence[Report]) -> Mapping[str, int]:
    """How often each fate occurs; those that do not occur are left out."""
    return {fate.value: number for fate in Fate if (number := sum(report.fate == fate for report in reports))}
