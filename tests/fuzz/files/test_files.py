"""Damaged files of a fixed seed are converted or refused, and no more than that; as are the failures found before."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from moir import convert_model
from tests.fuzz.files.failures import FAILURES
from tests.fuzz.files.mutations import BY_SUFFIX, ON_BYTES, mutated
from tests.fuzz.files.runner import DEFECTS, Fate, Ticket, counts, damaged, judged, run
from tests.fuzz.files.sample import Sample
from tests.fuzz.files.samples import FORMATS
from tests.fuzz.files.wire import encoded, fields, places

SEED, COUNT = 4, 400


def test_damaged_files() -> None:
    reports = list(run([Ticket(SEED, number, tuple(FORMATS)) for number in range(COUNT)]))
    assert not [f"{each.ticket.command()}: {each.sample}: {each.fate}: {each.message}" for each in reports if each.fate in DEFECTS]
    actual = counts(reports)
    # Damage that is always refused, or never, would find nothing.
    assert min(actual[Fate.CONVERTED.value], actual[Fate.REFUSED.value]) > COUNT / 10


@pytest.mark.parametrize("name", FAILURES)
def test_failures_of_before(name: str, tmp_path: Path) -> None:
    fate, message = judged(FAILURES[name](), tmp_path)
    assert fate not in DEFECTS, message


@pytest.mark.parametrize("format_", FORMATS)
def test_samples_are_converted(format_: str, tmp_path: Path) -> None:
    for number, sample in enumerate(FORMATS[format_]()[:12]):
        convert_model(sample.write(tmp_path / str(number)))


@pytest.mark.parametrize("suffix", [*BY_SUFFIX, ".bin"])
def test_mutations_change_files_and_repeat_themselves(suffix: str) -> None:
    samples = [each for make in FORMATS.values() for each in make()[:12]]
    contents = [content for each in samples for name, content in each.files.items() if name.endswith(suffix)]
    for number in range(60):
        results = [mutated(random.Random(number), f"x{suffix}", contents[0], contents[-1]) for _ in range(2)]
        assert results[0] == results[1]
    changed = sum(mutated(random.Random(number), f"x{suffix}", contents[0], contents[-1]) != contents[0] for number in range(60))
    assert changed > 40
    assert all(mutation in BY_SUFFIX.get(suffix, ON_BYTES) for mutation in ON_BYTES)


def test_a_damaged_file_is_made_again() -> None:
    for number in range(20):
        first, second = (damaged(Ticket(9, number, ("onnx", "tf", "caffe"))) for _ in range(2))
        assert (first.name, first.files) == (second.name, second.files)


def test_messages_are_taken_apart() -> None:
    content = FORMATS["onnx"]()[1].files["m.onnx"]
    message = fields(content)
    assert encoded(message) == content
    assert len(places(message)) > 200
    assert fields(b"\xff\xff") == []


def test_what_is_a_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fate is seen: the judgement is about what happens, not about what is said."""
    sample = FORMATS["onnx"]()[0]

    def fate(convert: object) -> Fate:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        monkeypatch.setattr("moir.convert_model", convert)
        return judged(sample, folder)[0]

    def reads(path: Path) -> object:
        Path("/etc/hostname").read_bytes()
        return convert_model(path)

    def leaves(path: Path) -> object:
        (path.parent / "left").touch()
        return convert_model(path)

    def fails(path: Path) -> object:
        raise IndexError(path)

    def takes(path: Path) -> object:
        bytes(bytearray(300 << 20))
        return convert_model(path)

    def asks(path: Path) -> object:
        bytearray(1 << 50)
        return convert_model(path)

    assert fate(convert_model) == Fate.CONVERTED
    assert fate(reads) == Fate.ESCAPE
    assert fate(leaves) == Fate.LEFTOVER
    assert fate(fails) == Fate.INTERNAL
    assert fate(takes) == Fate.MEMORY
    assert fate(asks) == Fate.MEMORY


def test_names_of_samples_differ() -> None:
    names = [each.name for make in FORMATS.values() for each in make()]
    assert len(set(names)) == len(names)
    assert all(isinstance(each, Sample) and each.size for make in FORMATS.values() for each in make())
