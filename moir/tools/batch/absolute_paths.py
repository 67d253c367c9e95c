"""Makes the paths of conversions absolute, for processes with another current folder, and restores them in the
results.
"""

from __future__ import annotations

from pathlib import Path

from moir.files.remote.addresses import is_address, joined
from moir.options import ConversionOptions
from moir.tools.batch.named_files import resolved
from moir.tools.batch.resumption import request_of
from moir.tools.batch.work import Outcome, Work


def absolute(work: Work) -> Work:
    """The same conversion with absolute paths."""
    folder = str(Path.cwd())
    values = {each.name: resolved(each.name, each.kind.plain(value), Path(folder)) for each, value in work.conversion.given.items()}
    return work.with_fields(
        model=joined(folder, work.model),
        output=joined(folder, work.output),
        conversion=ConversionOptions(**values),
        dumps=None if work.dumps is None else joined(folder, work.dumps),
        cache=None if work.cache is None else joined(folder, work.cache),
    )


def as_given(outcome: Outcome, work: Work) -> Outcome:
    """The outcome of `absolute(work)` with the paths of `work`: of the model, and of the files that were written."""
    result = outcome.result
    folder = Path(work.output).parent
    files = result.files if is_address(work.output) else tuple(str(folder / Path(each).name) for each in result.files)
    request = request_of(work) if result.request else ""
    return outcome.with_fields(result=result.with_fields(model=work.label, files=files, request=request))
