"""The forms of shapes in which tests run their models."""

import pytest

from tests.numerical.forms import ALL_FORMS, FORMS, forms_of_run


def test_the_forms_with_dynamic_shapes_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALL_FORMS, raising=False)
    runs = [forms_of_run(FORMS) for _ in range(4)]
    assert {each[0] for each in runs} == {"static"}
    assert {each[1] for each in runs[:2]} == {"dynamic", "rank"}
    assert runs[2:] == runs[:2]


def test_forms_that_a_test_asks_for_all_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALL_FORMS, raising=False)
    assert forms_of_run(["dynamic", "rank"]) == ["dynamic", "rank"]


def test_all_forms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALL_FORMS, "1")
    assert forms_of_run(FORMS) == FORMS
