"""One task of a batch: the model to convert, and its result. Both are pickled between processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from moir.conversion_result import ConversionResult
from moir.errors import UsageError
from moir.files.remote.addresses import is_address, shown
from moir.options import ConversionOptions
from moir.support.records import Record


class Work(Record):
    """One of several conversions.

    Args:
        model: the path or the address of the model.
        output: the path or the address of the `.xml`.
        conversion: its options.
        passes: the pipeline, if it is not the default one.
        dumps: the folder for the module after each pass, if there is one.
        cache: the folder of the cache, if there is one.
    """

    model: str
    output: str
    conversion: ConversionOptions
    passes: str | None = None
    dumps: str | None = None
    cache: str | None = None

    @property
    def label(self) -> str:
        """The designation of the model for the user: its path, or its address without secrets."""
        return shown(self.model)


class Outcome(Record):
    """The outcome of a conversion, as its process sends it.

    Args:
        result: its result.
        traceback: the traceback of the exception if it failed, for `--debug`.
    """

    result: ConversionResult
    traceback: str = ""


class Ended(Record):
    """A conversion that has ended: its number among all conversions, its outcome, and its duration in seconds."""

    number: int
    outcome: Outcome
    seconds: float


Conversion: TypeAlias = Callable[[Work], ConversionResult]
"""The type of functions that convert one model; it has to be importable by its name, because other processes import it.
"""


def check_outputs(works: Sequence[Work]) -> None:
    """Raises UsageError if two conversions would write the same file."""
    models: dict[str, str] = {}
    for work in works:
        output = work.output if is_address(work.output) else str(Path(work.output).resolve())
        if output in models:
            hint = "give each an output_model of its own in a manifest: moir --manifest FILE"
            raise UsageError(f"{models[output]} and {work.label} would both become {shown(work.output)}", hint=hint)
        models[output] = work.label
