"""What a person sees of many conversions."""

from __future__ import annotations

import io

from moir.conversion_result import ConversionResult, FailureDescription
from moir.inspection.tables import text_of
from moir.options import ConversionOptions
from moir.tools.batch.report import Progress, duration, tables
from moir.tools.batch.work import Ended, Outcome, Work


def failed(model: str, reason: str, kind: str | None = None) -> ConversionResult:
    return ConversionResult(model, "failed", failure=FailureDescription("ConversionError", reason, reason, kind=kind))


def test_failures_of_many_models_are_grouped() -> None:
    results = [ConversionResult(f"m{number}", "converted", notes=["a note"]) for number in range(1200)]
    results += [ConversionResult("c", "cached"), ConversionResult("u", "unchanged")]
    results += [failed(f"k{number}", "no lowering", "Mystery") for number in range(2)]
    results += [failed(f"d{number}", f"offset {number} of 'tensor{number}' is outside of the file") for number in range(3)]
    works = [Work(each.model, "", ConversionOptions()) for each in results]
    ended = {number: Ended(number, Outcome(each), 0.1) for number, each in enumerate(results)}
    assert text_of(tables(works, ended, 240.0)).splitlines() == [
        "1,202 of 1,207 models",
        "  result          models",
        "  converted       1,200",
        "  from the cache  1",
        "  unchanged       1",
        "  failed          5",
        "  time            4:00",
        "  rate            5.0 a second",
        "",
        "failures by reason",
        "  models  operation  reason                                        first model",
        "  3                  offset 0 of 'tensor0' is outside of the file  d0",
        "  2       Mystery    no lowering                                   k0",
        "",
        "notes",
        "  models",
        "  1,200   a note",
    ]


def test_the_bar_says_how_many_the_rate_and_the_time_left() -> None:
    stream = io.StringIO()
    progress = Progress(stream, 4)
    for number, result in enumerate([failed("a", "no"), ConversionResult("b", "converted")]):
        progress.add(Ended(number, Outcome(result), 0.1))
    text = stream.getvalue().rpartition("\033[K")[2]
    assert "2/4 models, 1 failed, " in text
    assert text.endswith(" left")


def test_durations() -> None:
    assert [duration(each) for each in (0, 61, 3600, 36_061)] == ["0:00", "1:01", "1:00:00", "10:01:01"]
