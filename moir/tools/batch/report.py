"""The display of the progress and the results of many conversions: a bar while they run, and tables at the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TextIO

from moir.conversion_result import FailureDescription
from moir.files.remote.addresses import shown
from moir.inspection.tables import Table
from moir.tools.batch.work import Ended, Work
from moir.tools.progress import ProgressBar
from moir.tools.summary import format_size

MOST_ROWS = 50
"""The largest number of models for which the table of results has a row for each."""

_VERDICTS = {"converted": "converted", "cached": "from the cache", "unchanged": "unchanged", "failed": "failed"}


class Progress:
    """The bar on a terminal: how many models are done and have failed, the rate, and the time that is left.

    Args:
        stream: the terminal; None for no bar.
        total: the number of models.
    """

    def __init__(self, stream: TextIO | None, total: int) -> None:
        self._bar = None if stream is None else ProgressBar(stream)
        self._total = total
        self._begun = time.perf_counter()
        self._failed = 0
        self._skipped = 0
        self._done = 0
        if self._bar is not None:
            # The bar counts one stage more, which is the emission of a single model.
            self._bar.begin([""] * (total - 1))
            self._bar.start(0, "models")

    def add(self, ended: Ended) -> None:
        """Count a model that is done."""
        status = ended.outcome.result.status
        self._done += 1
        self._failed += status == "failed"
        self._skipped += status == "unchanged"
        if self._bar is not None:
            self._bar.start(self._done, self._text(time.perf_counter() - self._begun))

    def close(self) -> None:
        """Erase the bar from the terminal; it is drawn again when the next model is done."""
        if self._bar is not None:
            self._bar.close()

    def _text(self, seconds: float) -> str:
        computed = self._done - self._skipped
        rate = computed / seconds if seconds else 0.0
        parts = ["models", *([f"{self._failed} failed"] if self._failed else [])]
        if rate:
            left = round((self._total - self._done) / rate)
            parts += [f"{rate:.1f} a second", f"{duration(left)} left"]
        return ", ".join(parts)


def duration(seconds: int) -> str:
    """A number of seconds as `m:ss`, or `h:mm:ss` from an hour on."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def tables(works: Sequence[Work], ended: Mapping[int, Ended], seconds: float) -> list[Table]:
    """The tables at the end of a run: a row for each model and each note; for many models, counts, with failures and
    notes grouped.

    Args:
        works: the conversions.
        ended: the conversions that have ended, by number.
        seconds: the duration of the run.
    """
    if len(works) > MOST_ROWS:
        return _grouped(works, ended, seconds)
    rows: list[tuple[str, ...]] = []
    notes: list[tuple[str, ...]] = []
    for number, work in enumerate(works):
        result, time_text = ended[number].outcome.result, f"{ended[number].seconds:.2f} s"
        verdict = _VERDICTS[result.status]
        if result.failure is not None:
            rows.append((work.label, verdict, "", "", time_text, ""))
            continue
        operations = sum(result.operations.values())
        rows.append((work.label, verdict, str(operations), format_size(result.weights_bytes), time_text, shown(work.output)))
        notes += [(work.label, note) for note in result.notes]
    bad = frozenset(number for number, each in ended.items() if each.outcome.result.failure is not None)
    columns = ("model", "result", "operations", "weights", "time", "file")
    table = Table(_title(works, ended), columns, tuple(rows), bad)
    return [table, *([Table("notes", ("", ""), tuple(notes))] if notes else [])]


def _grouped(works: Sequence[Work], ended: Mapping[int, Ended], seconds: float) -> list[Table]:
    counts = Counter(each.outcome.result.status for each in ended.values())
    rows = [(verdict, f"{counts[status]:,}") for status, verdict in _VERDICTS.items() if counts[status]]
    computed = len(ended) - counts["unchanged"]
    rows.append(("time", duration(round(seconds))))
    if seconds and computed:
        rows.append(("rate", f"{computed / seconds:.1f} a second"))
    results = [Table(_title(works, ended), ("result", "models"), tuple(rows))]
    failures: dict[str, list[tuple[int, FailureDescription]]] = {}
    for number in sorted(ended):
        failure = ended[number].outcome.result.failure
        if failure is not None:
            failures.setdefault(failure.group, []).append((number, failure))
    groups = sorted(failures.values(), key=len, reverse=True)
    if groups:
        cells = [(f"{len(group):,}", group[0][1].kind or "", group[0][1].reason, works[group[0][0]].label) for group in groups]
        results.append(Table("failures by reason", ("models", "operation", "reason", "first model"), tuple(cells)))
    notes = Counter(note for each in ended.values() for note in each.outcome.result.notes)
    if notes:
        cells = [(f"{count:,}", note) for note, count in notes.most_common(MOST_ROWS)]
        results.append(Table("notes", ("models", ""), tuple(cells)))
    return results


def _title(works: Sequence[Work], ended: Mapping[int, Ended]) -> str:
    done = sum(each.outcome.result.failure is None for each in ended.values())
    return f"{done:,} of {len(works):,} models"
