"""A store of files, accessed by fsspec: lists files, and reads and writes their content block by block.

Exceptions of the libraries become ModelFileErrors of one line. They name neither queries nor passwords; what they say
is repeated without the addresses in it.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError, MoirError, UsageError
from moir.files.remote.addresses import PACKAGES, WEB, scheme_of, shown, without_secrets
from moir.support.records import Record

PIECE = 16 << 20
"""The size in bytes of the blocks in which files are read."""

_MOST_FILES = 10_000
"""The most files of a folder that is a model."""

_LONGEST_REASON = 200
_SECONDS_TO_CONNECT, _SECONDS_OF_SILENCE = 30, 60

_SECONDS_OF_ASSEMBLY = 300
"""The number of seconds that a store may take to put the parts of a file together; s3fs repeats the request after 15 s.
"""

_LOGGERS = ("asyncio", "fsspec", "s3fs", "gcsfs", "adlfs")
"""The loggers of libraries that repeat, with a traceback, the text of an exception."""

_TAGS = ("ETag", "etag", "md5Hash", "generation", "blob_id", "version", "content_md5")
"""The keys under which stores give the tag of a version of a file. The time of change replaces a missing tag."""

_TIMES = ("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "created")


_SILENT = logging.NullHandler()


class RemoteFile(Record):
    """A version of a file in a store.

    Args:
        address: its address.
        size: its size in bytes; None if the store does not say it.
        tag: the entity tag of the version, or its time of change; empty if the store says neither.
    """

    address: str
    size: int | None
    tag: str


class Store:
    """The store of an address.

    Args:
        address: the address of a file or folder in it.

    Raises UsageError if the scheme is not known, or its package is not installed.
    """

    def __init__(self, address: str) -> None:
        self.scheme = scheme_of(address)
        self.is_web = self.scheme in WEB
        self._files = _file_system(self.scheme, address)
        # Kept from an earlier conversion of this process.
        self._files.invalidate_cache()

    def file(self, address: str) -> RemoteFile | None:
        """The present version of a file; None if there is no file at the address. Raises ModelFileError."""
        with _described(address):
            try:
                information: Mapping[str, Any] = self._files.info(self._path(address))
            except FileNotFoundError as error:
                # For servers, fsspec says so of all errors.
                if (cause := error.__cause__) is not None and self.is_web and getattr(cause, "status", None) not in (404, 410):
                    raise cause from None
                return None
        return None if information["type"] == "directory" else _version(address, information)

    def files(self, address: str, *, depth: int | None = None) -> dict[str, RemoteFile]:
        """The files of a folder by their names relative to it, those of its folders included; none if it is missing.

        Args:
            address: the address of the folder.
            depth: 1 for the files of the folder alone.

        Raises ModelFileError for a folder of more than 10,000 files, and for a server of the web, which has none.
        """
        root = self._path(address).rstrip("/")
        files: dict[str, RemoteFile] = {}
        with _described(address):
            for _, _, entries in self._files.walk(root, maxdepth=depth, detail=True):
                for information in entries.values():
                    name = str(information["name"]).lstrip("/").removeprefix(f"{root.lstrip('/')}/")
                    files[name] = _version(f"{address.rstrip('/')}/{name}", information)
                if len(files) > _MOST_FILES:
                    hint = "give the folder of one model"
                    raise ModelFileError(f"the folder has more than {_MOST_FILES} files", location=shown(address), hint=hint)
        files.pop("", None)
        return files

    @contextmanager
    def content(self, file: RemoteFile, offset: int) -> Generator[tuple[int, Iterator[bytes]]]:
        """A context with the content of a file from an offset (in bytes) on; from 0 if the server does not support
        offsets.

        Yields the actual offset, and an iterator over blocks of bytes. Raises exceptions of the library; see
        `described`.
        """
        path = self._path(file.address)
        if not self.is_web:
            with self._files.open(path, "rb", block_size=PIECE, cache_type="none") as opened:
                opened.seek(offset)
                yield offset, iter(lambda: opened.read(PIECE), b"")
            return
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-", "If-Range": file.tag} if offset else {})
        with closing(self._files.open(path, "rb", block_size=0, size=file.size or 1, headers=headers)) as stream:
            begins = str(stream.r.headers.get("Content-Range", "")).startswith(f"bytes {offset}-")
            yield offset if stream.r.status == 206 and begins else 0, iter(lambda: stream.read(PIECE), b"")

    @property
    def stages(self) -> bool:
        """Whether the store can receive a file first and make it visible later (`writer`); only s3fs does this for all
        sizes.
        """
        return self.scheme == "s3"

    def writer(self, address: str, block: int) -> Any:
        """A file to write, which becomes visible when its `commit` is called and vanishes when its `discard` is. Raises
        exceptions of fsspec.

        `block` is the size of the parts that are sent, in bytes.
        """
        return self._files.open(self._path(address), "wb", block_size=block, autocommit=False)

    def put(self, path: Path, address: str) -> None:
        """Send a local file to an address, where it becomes visible when it is complete.

        Raises exceptions of fsspec.
        """
        self._files.put_file(str(path), self._path(address))

    def remove(self, address: str) -> None:
        """Remove a file, which need not exist. Raises ModelFileError."""
        with _described(address):
            self._files.invalidate_cache()
            if self._files.exists(self._path(address)):
                self._files.rm_file(self._path(address))

    def beginning(self, file: RemoteFile, size: int) -> bytes:
        """The first `size` bytes of a file. Raises ModelFileError."""
        with _described(file.address), self.content(file, 0) as (_, pieces):
            return next(pieces, b"")[:size]

    def _path(self, address: str) -> str:
        return address if self.is_web else self._files._strip_protocol(address)


def _file_system(scheme: str, address: str) -> Any:
    for name in _LOGGERS:
        # Without a handler, warnings are printed; those of the user get them as before.
        logging.getLogger(name).addHandler(_SILENT)
    try:
        fsspec: Any = import_module("fsspec")
        kind = fsspec.get_filesystem_class(scheme)
        settings: dict[str, Any] = dict(kind._get_kwargs_from_urls(address))
        if scheme == "s3":
            kind.read_timeout = _SECONDS_OF_ASSEMBLY
        if scheme in WEB:
            aiohttp: Any = import_module("aiohttp")
            limits = aiohttp.ClientTimeout(total=None, sock_connect=_SECONDS_TO_CONNECT, sock_read=_SECONDS_OF_SILENCE)
            settings["client_kwargs"] = {"timeout": limits}
        with _described(address):
            return fsspec.filesystem(scheme, **settings)
    except ImportError as error:
        hint = f"install it: pip install 'moir[remote]' {PACKAGES[scheme]}"
        raise UsageError(f"{scheme}:// needs the package {PACKAGES[scheme]}", location=shown(address), hint=hint) from error


def _version(address: str, information: Mapping[str, Any]) -> RemoteFile:
    size = information.get("size")
    tag = next((str(information[each]) for each in (*_TAGS, *_TIMES) if information.get(each)), "")
    # Listings and answers about one file quote tags differently; a server of the web is asked with its own spelling.
    return RemoteFile(address, size if isinstance(size, int) else None, tag if scheme_of(address) in WEB else tag.strip('"'))


def described(address: str, error: Exception, what: str = "cannot be read") -> ModelFileError:
    """The ModelFileError for an exception of a library.

    Args:
        address: the address of the file.
        error: the exception.
        what: what failed.
    """
    status = getattr(error, "status", None)
    reason = (
        f"the server says {status} {getattr(error, 'message', '')}".strip() if isinstance(status, int) and status >= 400 else _words(error)
    )
    refused = isinstance(error, PermissionError) or status in (401, 403) or "redential" in type(error).__name__
    hint = "moir reads no credentials; give them to the library as its documentation says" if refused else None
    return ModelFileError(f"{what}: {reason}", location=shown(address), hint=hint)


def _words(error: Exception) -> str:
    """The text of an exception on one line and without secrets; the name of its class if the text is empty."""
    text = str(error.args[-1]) if isinstance(error, OSError) and error.args else str(error)
    line = " ".join(without_secrets(text).split())
    return f"{type(error).__name__}: {line}"[:_LONGEST_REASON].rstrip(": ")


@contextmanager
def _described(address: str) -> Generator[None]:
    """A context that turns exceptions of a library into errors of moir about the file at an address."""
    try:
        yield
    except (MoirError, ImportError):
        raise
    except Exception as error:
        # The traceback of the library has the whole address, which --debug would print.
        raise described(address, error) from None
