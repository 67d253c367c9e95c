"""Dataclasses that are made with less work are those that Python makes, but for the signature as documentation."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
from moir.tools.dataclass_methods import _compiled, make_dataclasses_faster
make_dataclasses_faster()
from dataclasses import FrozenInstanceError, dataclass, field

def made(name):
    @dataclass(frozen=True)
    class Point:
        x: int
        y: list[int] = field(default_factory=list)
    Point.__qualname__ = name
    return Point

A, B = made("A"), made("B")
assert _compiled.cache_info().hits > 0
assert (repr(A(1)), repr(B(2, [3]))) == ("A(x=1, y=[])", "B(x=2, y=[3])")
assert A.__doc__ == "Point"
assert A(1) == A(1) and A(1) != A(2) and A(1) != B(1)
assert A(1).y is not A(1).y
for each in (A(1), B(1)):
    try:
        each.x = 2
    except FrozenInstanceError:
        continue
    raise AssertionError
"""


def test_classes_are_as_without_it() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
