"""Workers survive what their items do."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.numerical.workers import Died, Say, Workers


def task(item: str, say: Say) -> str:
    """What an item asks for: to answer, crash, leave, hang, raise, or crash the first time only."""
    say(f"stage of {item}")
    if item == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if item == "leave":
        os._exit(7)
    if item == "hang":
        time.sleep(60)
    if item == "raise":
        raise ValueError("a mistake")
    if item.startswith("/") and not Path(item).exists():
        Path(item).touch()
        os.abort()
    return item.upper()


def test_a_crash_or_a_hang_costs_one_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.numerical.workers.START_SECONDS", 5.0)
    workers: Workers[str, str] = Workers(task, count=2, limit=1.0)
    answers = dict(workers.run(["a", "crash", "b", "hang", "leave", "c"]))
    assert answers == {
        "a": "A",
        "b": "B",
        "c": "C",
        "crash": Died("stage of crash", False, "SIGSEGV"),
        "hang": Died("stage of hang", True, "no answer after 1 s"),
        "leave": Died("stage of leave", False, "exit status 7"),
    }
    assert workers.died_once == []


def test_an_item_is_tried_twice(tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    workers: Workers[str, str] = Workers(task, count=1)
    assert dict(workers.run([once, "a"])) == {once: once.upper(), "a": "A"}
    assert workers.died_once == [once]


def test_a_mistake_in_the_task_ends_the_run() -> None:
    workers: Workers[str, str] = Workers(task, count=1)
    with pytest.raises(RuntimeError, match=r"the task failed on 'raise':[^$]*ValueError: a mistake"):
        list(workers.run(["raise", "a"]))
