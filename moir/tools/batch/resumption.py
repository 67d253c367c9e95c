"""`--resume FILE`: a model is not converted again if a file of results (`--json`) says that it was converted, and its
files have not changed since.

The file may be that of a run that was killed: a line that is not complete counts as missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moir.conversion_result import ConversionResult, SourceFile
from moir.errors import ConversionError, MoirError, UsageError
from moir.files.remote.addresses import identity, is_address
from moir.options import DISABLED_VARIABLE, ENABLED_VARIABLE
from moir.targets.registry import ENVIRONMENT
from moir.tools.batch.digests import files_in, of_text
from moir.tools.batch.named_files import named_paths
from moir.tools.batch.work import Work
from moir.version import VERSION

if TYPE_CHECKING:
    from moir.files.remote.store import RemoteFile

_DONE = ("converted", "cached", "unchanged")


def request_of(work: Work) -> str:
    """A digest of the request of a conversion: model, output, options with the states of the files that they name,
    passes, environment, and the version of moir.

    Empty if an extension does not exist, which the conversion will report.
    """
    given = work.conversion.given
    try:
        paths = {each.name: named_paths(each.name, each.kind.plain(value)) for each, value in given.items() if each.kind.is_private}
    except ConversionError:
        return ""
    parts = {
        "moir": VERSION,
        "model": identity(work.model),
        "output": work.output,
        "options": {each.name: each.kind.plain(value) for each, value in given.items()},
        "named": {name: _states(each) for name, each in paths.items()},
        "passes": work.passes or "",
        "environment": [os.environ.get(each, "") for each in (ENABLED_VARIABLE, DISABLED_VARIABLE, *ENVIRONMENT)],
    }
    return of_text(json.dumps(parts, sort_keys=True, default=str))


def earlier_results(path: str) -> Mapping[str, ConversionResult]:
    """The results in a file by their requests, without those of conversions that failed; of several with one request,
    the last one.

    Raises UsageError if the file cannot be read.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        hint = "give the file to which --json has printed; the first run needs none"
        raise UsageError(f"the results cannot be read: {error.strerror}", location=path, hint=hint) from error
    results: dict[str, ConversionResult] = {}
    for line in lines:
        try:
            fields: Any = json.loads(line)
            if fields["status"] in _DONE and fields["request"]:
                results[fields["request"]] = ConversionResult.of_json(fields)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
    return results


def is_unchanged(result: ConversionResult) -> bool:
    """Whether the files that an earlier conversion has read are unchanged, and those that it has written have their
    sizes.

    False as well if the result lists none.
    """
    if not result.read or not result.files:
        return False
    try:
        return all(_is_as_read(each) for each in result.read) and all(
            _size(path) == size for path, size in zip(result.files, result.sizes, strict=True)
        )
    except (OSError, MoirError):
        return False


def _is_as_read(file: SourceFile) -> bool:
    if is_address(file.path):
        return bool(file.tag) and (version := _version(file.path)) is not None and version.tag == file.tag
    status = os.stat(file.path)
    return (status.st_size, status.st_mtime_ns) == (file.bytes, file.changed)


def _size(path: str) -> int | None:
    if not is_address(path):
        return os.stat(path).st_size
    version = _version(path)
    return None if version is None else version.size


def _version(address: str) -> RemoteFile | None:
    from moir.files.remote.store import Store

    return Store(address).file(address)


def _states(paths: Sequence[Path]) -> list[list[object]]:
    """The sizes and times of change of files, as lists; for a folder, those of the files in it."""
    files = [each for path in paths for each in (files_in(path) if path.is_dir() else [path])]
    return [[str(each), *_state(each)] for each in files]


def _state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return (-1, -1)
    return status.st_size, status.st_mtime_ns
