"""A file, or the files of a folder, that are damaged."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tests.fuzz.case import Generator
from tests.fuzz.draw import Draw, NoCase

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "fixtures"


@dataclass(frozen=True)
class Sample:
    """A model.

    Args:
        name: what it is, for a report.
        files: the content of its files, by their path in its folder.
        model: the path that moir is given, a file or a folder; "" is the folder of the model.
    """

    name: str
    files: Mapping[str, bytes]
    model: str

    @property
    def size(self) -> int:
        """The number of bytes of its files."""
        return sum(map(len, self.files.values()))

    def write(self, folder: Path) -> Path:
        """Write the files into a folder; returns the path that moir is given."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return folder / self.model


def of_folder(name: str, folder: Path, model: str = "") -> Sample:
    """The sample in a folder."""
    files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    return Sample(name, files, model)


def made(name: str, make: Callable[[Path], Path]) -> Sample:
    """The sample that a function writes into a folder; it returns the path that moir is given."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        model = make(folder)
        return of_folder(name, folder, str(model.relative_to(folder)))


def drawn_sample(name: str, generator: Generator, number: int) -> Sample:
    """The sample of a random model; if the draw of a number is not a case, the number stands for the next attempt that
    is one.
    """
    for attempt in count():
        try:
            case = generator(Draw(34, number, attempt), "*")
        except NoCase:
            continue
        return made(f"{name} {number} ({case.subject})", case.source.save)
    raise AssertionError
