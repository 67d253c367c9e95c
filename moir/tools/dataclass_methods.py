"""Makes creating the classes of `dataclasses` faster.

`dataclasses` writes a text for each method that it adds to a class, and compiles it. xDSL has some 170 dataclasses,
most of them without fields: of 790 texts only 386 are distinct. Compiling the repeated ones would take 14 % of the
instructions of the conversion of a small model. A class without documentation gets its signature as documentation,
which nobody reads in a conversion, and which takes 2 %.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
from functools import cache
from types import CodeType
from typing import Any


class _InspectWithoutSignatures:
    """A stand-in for the module `inspect` in which the signature of everything is an empty text."""

    @staticmethod
    def signature(*_: object, **__: object) -> str:
        return ""

    def __getattr__(self, name: str) -> Any:
        return getattr(inspect, name)


def make_dataclasses_faster() -> None:
    """Let `dataclasses` compile each text once in this process, and write no signatures.

    For processes that are moir's own, before xDSL is imported. The module calls `exec` by its name, which is looked up
    in the module before the builtins. From Python 3.13 on, a class has one text for all its methods, and fewer texts
    are equal.
    """
    dataclasses.exec = _execute  # pyright: ignore[reportAttributeAccessIssue]
    dataclasses.inspect = _InspectWithoutSignatures()  # pyright: ignore[reportAttributeAccessIssue]


def _execute(text: str, variables: dict[str, Any], local: dict[str, Any]) -> None:
    builtins.exec(_compiled(text), variables, local)


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<string>", "exec", dont_inherit=True)
