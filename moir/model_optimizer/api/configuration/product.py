"""Facts about the program that runs extensions: its version, and the end of a conversion."""

from __future__ import annotations

import re
from typing import NoReturn

from moir.model_optimizer.api.errors import Error
from moir.version import VERSION


def get_version() -> str:
    """The version of moir."""
    return VERSION


get_simplified_mo_version = get_simplified_ie_version = get_version


def extract_release_version(version: str) -> tuple[str | None, str | None]:
    """The first two numbers of a version, as texts; None for both if it does not begin with them."""
    match = re.match(r"(\d+)\.(\d+)", version)
    return (None, None) if match is None else (match[1], match[2])


def get_ir_version(_argv: object = None) -> int:
    """The version of the IR that is written."""
    return 11


def prepare_emit_ir(*_: object, **__: object) -> NoReturn:
    """Raises Error: the conversion itself writes the IR, after all transformations."""
    raise Error("the IR is written at the end of the conversion; an extension cannot write it, so it need not")


def kaldi_function(name: str) -> object:
    """A stand-in for a function for Kaldi's models, which moir does not read: it can be imported, but raises an error
    when it is called.
    """

    def function(*_: object, **__: object) -> NoReturn:
        raise Error("moir does not read Kaldi models, which {} is for", name)

    function.__name__ = name
    return function
