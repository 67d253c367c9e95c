"""Addresses of files that lie elsewhere, as text: `s3://bucket/folder/model.onnx`, `https://host/model.onnx?key=…`.

Only addresses of the web have a query, after a question mark. It may be a signature, which gives access to the file:
no message shows it. Nothing here opens a connection.
"""

from __future__ import annotations

import re
from pathlib import Path

from moir.errors import UsageError
from moir.files.reading import ModelFolder
from moir.support.suggestions import alternatives

PACKAGES: dict[str, str] = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "az": "adlfs",
    "hf": "huggingface_hub",
    "https": "aiohttp",
    "http": "aiohttp",
}
"""The schemes of addresses, and the package that fsspec needs for each."""

WEB = ("https", "http")
"""The schemes of web servers: they have files, but no list of the files of a folder, and cannot be written to."""

_OTHERS_OF_SCHEMES = str.maketrans("", "", "+.-")

# Expressions are compiled, and modules imported, when the first address is used.
_SIGNATURES = (
    r"(?i)x-(?:amz|goog|ms)-.*|awsaccesskeyid|googleaccessid|signature|expires|key-pair-id|policy|token"
    r"|sv|ss|srt|sp|se|st|spr|sig|sr|sip|skoid|sktid|skt|ske|sks|skv"
)
"""A pattern for the parameters of a query that are a signature of the address; they differ each time it is signed (AWS,
Google, Azure).
"""

_SECRETS = r"(?<=[\w/])\?[^\s'\"<>)]*|(?<=//)[^/\s@'\"]*@"


def is_address(text: str) -> bool:
    """Whether a text is an address, not a path of this machine."""
    scheme, separator, _ = text.partition("://")
    return bool(separator) and scheme.isascii() and scheme[:1].isalpha() and scheme.translate(_OTHERS_OF_SCHEMES).isalnum()


def scheme_of(address: str) -> str:
    """The scheme of an address, as `s3`. Raises UsageError for one that is not among `PACKAGES`."""
    scheme = address.partition("://")[0].lower()
    if scheme not in PACKAGES:
        hint = f"files are read from {alternatives(f'{each}://' for each in PACKAGES)}"
        raise UsageError(f"addresses of the scheme {scheme!r} are not read", location=shown(address), hint=hint)
    return scheme


def shown(address: str) -> str:
    """An address as messages and results show it: without query, user and password. A path is returned as it is."""
    from urllib.parse import urlsplit, urlunsplit

    if not is_address(address):
        return address
    if not _is_of_web(address):
        return without_secrets(address)
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_secrets(text: str) -> str:
    """A text without the queries, users and passwords of the addresses in it."""
    return re.sub(_SECRETS, "", text)


def name_of(address: str) -> str:
    """The name of the file or folder at an address.

    Raises UsageError for an address without a name, and for a name that no file of this machine may have.
    """
    from urllib.parse import unquote

    last = _path(address).rstrip("/").rpartition("/")[2]
    name = unquote(last) if _is_of_web(address) else last
    if not is_safe(name) or "/" in name:
        raise UsageError("the address has no name of a file or folder", location=shown(address), hint="give that of a model")
    return name


def folder_of(address: str) -> str:
    """The address of the folder of a file or folder, with the same query."""
    return _with_path(address, _path(address).rstrip("/").rpartition("/")[0])


def joined(base: str, name: str) -> str:
    """A name resolved against a folder; an address or an absolute path is returned unchanged.

    Args:
        base: an address, or a path of this machine.
        name: an address or a path; `.` or an empty one is the folder itself.

    Raises UsageError for a name that leads out of a folder at an address.
    """
    from urllib.parse import quote

    if is_address(name) or ModelFolder.is_absolute(name):
        return name
    if not is_address(base):
        return str(Path(base) / name)
    if ModelFolder.leads_upward(name):
        raise UsageError(f"{name!r} leads out of the folder", location=shown(base), hint="say the whole address")
    names = [each for each in name.split("/") if each not in ("", ".")]
    text = "/".join(map(quote, names) if _is_of_web(base) else names)
    return _with_path(base, "/".join(filter(None, (_path(base).rstrip("/"), text))))


def is_inside(name: str) -> bool:
    """Whether `name`, a file name in a model or a listing, stays within the folder that it is relative to."""
    return is_safe(name) and not ModelFolder.is_absolute(name) and not ModelFolder.leads_upward(name)


def is_safe(name: str) -> bool:
    """Whether a name can be that of a file: without control characters, not hidden, and not too long."""
    parts = name.split("/")
    return all(each and not each.startswith(".") and len(each.encode(errors="replace")) < 250 and each.isprintable() for each in parts)


def is_whole_bucket(address: str) -> bool:
    """Whether an address is that of a bucket, a container or an owner of models, not of something in it."""
    return not _is_of_web(address) and len([each for each in _path(address).split("/") if each]) < 2


def identity(address: str) -> str:
    """An address without the parts that differ each time it is signed: two addresses of a file have the same
    identity.
    """
    from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

    if not _is_of_web(address):
        return address
    parts = urlsplit(address)
    query = [each for each in parse_qsl(parts.query, keep_blank_values=True) if not re.fullmatch(_SIGNATURES, each[0])]
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, urlencode(sorted(query)), ""))


def _is_of_web(address: str) -> bool:
    return address.lower().startswith(tuple(f"{each}://" for each in WEB))


def _path(address: str) -> str:
    """The part of an address after the scheme: the bucket and the key, or for a web server the path."""
    from urllib.parse import urlsplit

    return urlsplit(address).path if _is_of_web(address) else address.partition("://")[2]


def _with_path(address: str, path: str) -> str:
    from urllib.parse import urlsplit, urlunsplit

    if not _is_of_web(address):
        return f"{address.partition('://')[0]}://{path}"
    return urlunsplit(urlsplit(address)._replace(path=path if path.startswith("/") else f"/{path}", fragment=""))
