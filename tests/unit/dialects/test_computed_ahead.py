"""Results that threads compute ahead of those who use them."""

from __future__ import annotations

import threading

import pytest

from moir.dialects import computed_ahead as module
from moir.dialects.computed_ahead import computed_ahead


@pytest.mark.parametrize("count", [1, 3])
def test_results_are_in_order(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(module, "processors", lambda: count)
    threads: set[int] = set()

    def square(number: int) -> int:
        threads.add(threading.get_ident())
        return number * number

    assert list(computed_ahead(square, range(50))) == [(number, number * number) for number in range(50)]
    assert (threading.get_ident() in threads) == (count == 1)


@pytest.mark.parametrize("count", [1, 3])
def test_few_are_computed_before_they_are_wanted(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(module, "processors", lambda: count)
    asked: list[int] = []

    def items() -> object:
        for number in range(50):
            asked.append(number)
            yield number

    results = computed_ahead(str, items())  # pyright: ignore[reportArgumentType]
    assert next(results) == (0, "0")
    assert len(asked) <= count + 1


@pytest.mark.parametrize("count", [1, 3])
def test_exceptions_are_raised_in_their_place(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(module, "processors", lambda: count)
    results = computed_ahead(lambda number: 1 // (3 - number), range(50))
    assert [next(results)[0] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ZeroDivisionError):
        next(results)
