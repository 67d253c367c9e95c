"""The committed table of proofs is about the rules that the passes have, and certificates read it."""

from __future__ import annotations

import pytest

from moir.certificate.proved_rewrites import is_proved, unproved
from moir.proofs.table import NOT_PROVED, RESULTS

pytest.importorskip("z3")

from moir.proofs.graph_proofs import patterns_of
from moir.proofs.proving import passes_to_prove
from scripts.proofs import merged


def test_every_rule_is_in_the_table() -> None:
    assert list(RESULTS) == passes_to_prove()
    for name, counts in RESULTS.items():
        rules = patterns_of(name)
        assert sum(counts.values()) == len(rules), name
        assert all(any(rule.startswith(left.removesuffix(" …")) for rule in rules) for left, _ in NOT_PROVED.get(name, ())), name


def test_what_is_not_proved_is_named() -> None:
    rewrites = ("fuse-swish: FuseSwish", "fuse-swish", "fold-constants", "simplify-indices: WrappedIndex")
    assert unproved(rewrites) == []
    others = ("simplify-indices: FilledGather", "simplify-indices", "fuse-attention", "lower-onnx: sigmoid", "a-pass-of-an-extension")
    assert not any(map(is_proved, others))


def test_the_table_keeps_the_passes_that_were_not_proved_anew() -> None:
    old = {"fuse-swish": 1, "cancel-reshapes": 2, "a-pass-that-is-gone": 3}
    assert list(merged(old, {"fuse-swish": 5, "fuse-clamp": 4}).items()) == [("cancel-reshapes", 2), ("fuse-clamp", 4), ("fuse-swish", 5)]
