"""The notations of `--stateful` and `--transform`, and the passes that they ask for."""

from __future__ import annotations

from typing import Any

import pytest

from moir.errors import UsageError
from moir.options import ConversionOptions
from moir.parameters.transform_notation import Transform, transforms_of


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("LowLatency2", [Transform("LowLatency2")]),
        ("LowLatency2[]", [Transform("LowLatency2")]),
        ("LowLatency2[use_const_initializer=False]", [Transform("LowLatency2", {"use_const_initializer": False})]),
        (
            "LowLatency2[use_const_initializer=true], Pruning",
            [Transform("LowLatency2", {"use_const_initializer": True}), Transform("Pruning")],
        ),
        ("MakeStateful[param_res_names={'a':'b','c,[':'d]='}]", [Transform("MakeStateful", {"param_res_names": {"a": "b", "c,[": "d]="}})]),
        (["Pruning", Transform("LowLatency2")], [Transform("Pruning"), Transform("LowLatency2")]),
        ("", []),
    ],
)
def test_transforms(given: Any, expected: list[Transform]) -> None:
    assert list(transforms_of(given)) == expected
    assert transforms_of([str(each) for each in expected]) == tuple(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LowLatency", "there is no transformation 'LowLatency'; did you mean LowLatency2"),
        ("LowLatency2[use_const=True]", "LowLatency2 has no option 'use_const'; did you mean use_const_initializer"),
        ("LowLatency2[use_const_initializer=0]", "use_const_initializer of LowLatency2 is True or False, not '0'"),
        ("MakeStateful", "MakeStateful needs param_res_names"),
        ("MakeStateful[param_res_names=['a']]", "param_res_names of MakeStateful is a mapping of names"),
        ("MakeStateful[param_res_names={'a':1}]", "param_res_names of MakeStateful is a mapping of names"),
        ("MakeStateful[param_res_names={'a':]", "has no counterpart"),
        ("Pruning[x=1]", "Pruning has no option 'x'; it has no options"),
        ("LowLatency2]", "has no counterpart"),
        ("LowLatency2[use_const_initializer=__import__('os')]", "is True or False"),
    ],
)
def test_mistakes_in_transforms(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        transforms_of(text)


@pytest.mark.parametrize(
    ("given", "pairs", "low_latency"),
    [
        ({}, None, None),
        ({"stateful": "a=b, c=d"}, ("a=b", "c=d"), None),
        ({"stateful": {"a": "b"}}, ("a=b",), None),
        ({"stateful": ["a=b"], "transform": "MakeStateful[param_res_names={'c':'d'}]"}, ("a=b", "c=d"), None),
        ({"low_latency": True}, None, True),
        ({"transform": "LowLatency2"}, None, True),
        ({"transform": "LowLatency2[use_const_initializer=False]", "low_latency": True}, None, False),
        ({"transform": "Pruning"}, None, None),
    ],
)
def test_the_passes_that_run(given: dict[str, Any], pairs: tuple[str, ...] | None, low_latency: bool | None) -> None:
    options = ConversionOptions(**given)
    assert options.pass_options("make-stateful") == (None if pairs is None else {"pairs": pairs})
    assert options.pass_options("low-latency") == (None if low_latency is None else {"use_const_initializer": low_latency})


def test_a_text_without_an_output_is_no_pair() -> None:
    with pytest.raises((ValueError, UsageError), match="a pair is the name of an input and that of an output"):
        ConversionOptions(stateful="a")


def test_pruning_is_left_out_with_a_note() -> None:
    assert ConversionOptions(transform="LowLatency2").notes == []
    (note,) = ConversionOptions(transform="Pruning").notes
    assert "Pruning is left out" in note
