"""A user's graph splits lines at their first separators only, and the rest of a line stays whole."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from tests.numerical.tensorflow.conversion import check

FIELDS = np.array(["a,b,c,d", "x", "", ",,,,", "p,q", "1<><>2<>3"], object)
WORDS = np.array(["a  b c  d", "  x ", "", "  ", " a b c d  ", "a b", "a b "], object)


@pytest.mark.parametrize("limit", [-1, 0, 1, 2, 9])
@pytest.mark.parametrize("separator", [",", "<>"])
def test_fields(separator: str, limit: int) -> None:
    check(lambda x: tf.raw_ops.StringSplitV2(input=x, sep=separator, maxsplit=limit), {"x": FIELDS}, forms=("static", "dynamic"))


@pytest.mark.parametrize("limit", [-1, 0, 1, 2, 9])
def test_words(limit: int) -> None:
    """The rest begins with a word, ends as the string does, and is there after the last word, too."""
    check(lambda x: tf.raw_ops.StringSplitV2(input=x, sep="", maxsplit=limit), {"x": WORDS}, forms=("static", "dynamic"))
