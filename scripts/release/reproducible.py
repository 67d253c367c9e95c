"""Packages whose bytes depend on the source alone: a second build of the same commit gives the same bytes.

Archives record when and by whom a file was made. Here every member has the time of the commit, no owner, and the
permissions 644 or 755; the members of an sdist are sorted. `SOURCE_DATE_EPOCH` is the convention for the time, see
https://reproducible-builds.org/specs/source-date-epoch.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import time
import zipfile
from pathlib import Path

_FIRST_TIME_OF_ZIP = 315532800
"""1980-01-01 in seconds: archives of zip cannot record an earlier time."""


def normalize(path: Path, epoch: int) -> None:
    """Rewrite a wheel or an sdist in place, with the time `epoch` in seconds since 1970. Raises ValueError for other
    files.
    """
    if path.suffix == ".whl":
        path.write_bytes(_wheel(path, epoch))
    elif path.name.endswith(".tar.gz"):
        path.write_bytes(_sdist(path, epoch))
    else:
        raise ValueError(f"{path.name} is neither a wheel nor an sdist")


def _permissions(mode: int) -> int:
    return 0o755 if mode & 0o100 else 0o644


def _wheel(path: Path, epoch: int) -> bytes:
    written = io.BytesIO()
    when = time.gmtime(max(epoch, _FIRST_TIME_OF_ZIP))[:6]
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as target:
        # The order stays: the metadata of a wheel are its last members.
        for member in source.infolist():
            info = zipfile.ZipInfo(member.filename, when)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, whatever system builds
            info.external_attr = (0o100000 | _permissions(member.external_attr >> 16)) << 16
            target.writestr(info, source.read(member))
    return written.getvalue()


def _sdist(path: Path, epoch: int) -> bytes:
    archive = io.BytesIO()
    with tarfile.open(path, "r:gz") as source, tarfile.open(fileobj=archive, mode="w", format=tarfile.PAX_FORMAT) as target:
        for member in sorted(source.getmembers(), key=lambda each: each.name):
            info = tarfile.TarInfo(member.name)
            info.type, info.linkname, info.size, info.mtime = member.type, member.linkname, member.size, epoch
            info.mode = 0o755 if member.isdir() else _permissions(member.mode)
            target.addfile(info, source.extractfile(member) if member.isfile() else None)
    written = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=written, mode="wb", compresslevel=9, mtime=epoch) as compressed:
        compressed.write(archive.getvalue())
    return written.getvalue()
