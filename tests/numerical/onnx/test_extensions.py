"""Operations of ONNX Runtime's extensions, domain ai.onnx.contrib."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node

contrib = partial(node, domain="ai.onnx.contrib")
X = np.random.default_rng(3).standard_normal((2, 3, 3)).astype(np.float32)


def test_inverse() -> None:
    matrices = X + 4 * np.eye(3, dtype=np.float32)
    check([contrib("Inverse", ["x"], ["y"])], {"x": matrices}, expected=[np.linalg.inv(matrices)], forms=["static", "dynamic"])


def test_negative_and_positive_parts() -> None:
    check([contrib("NegPos", ["x"], ["neg", "pos"])], {"x": X}, expected=[np.minimum(X, 0), np.maximum(X, 0)])


@pytest.mark.parametrize(
    ("kind", "reason", "hint"),
    [
        ("BertTokenizer", "the unknown token for the rest of a word", "converts the tokenizer.json"),
        ("CLIPTokenizer", "a search in a vocabulary", "converts the tokenizer.json"),
        ("SentencepieceDecoder", "texts of tokens", "--output"),
        ("DecodeImage", "compressed images cannot be decoded", "the pixels become an input"),
        ("DrawBoundingBoxes", "cannot draw", "--output"),
        ("AudioDecoder", "compressed sounds", "the samples become an input"),
    ],
)
def test_refusal(kind: str, reason: str, hint: str) -> None:
    with pytest.raises(ConversionError, match=reason) as caught:
        check([contrib(kind, ["x"], ["y"])], {"x": X}, expected=[X])
    assert hint in str(caught.value)
    assert f"ai.onnx.contrib.{kind}" in str(caught.value)
