"""Layers before a network: texts, sounds, images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.keras.models import keras
from tests.numerical.runtime import core, load_tokenizers

layers = keras.layers

TEXTS = ["Hello, World!", "good   day to you", "", "GOOD-day world world"]
WORDS = ["hola", "good", "day", "world"]


def converted(model: Any, path: Path) -> Any:
    model.save(path)
    return core().compile_model(moir.to_openvino(moir.convert_model(path)), "CPU")


def of_texts(compiled: Any) -> Any:
    return compiled(openvino.Tensor(np.array([[each] for each in TEXTS])))[0]


def vectorized(**options: Any) -> Any:
    x = keras.Input((1,), dtype="string", name="x")
    return keras.Model(x, layers.TextVectorization(vocabulary=WORDS, **options)(x))


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_indices_of_words(suffix: str, tmp_path: Path) -> None:
    indices = of_texts(converted(vectorized(output_sequence_length=3), tmp_path / f"model.{suffix}"))
    expected = [[1, 5, 0], [3, 4, 1], [0, 0, 0], [1, 5, 5]]
    np.testing.assert_array_equal(indices, expected)


def test_the_longest_text_counts(tmp_path: Path) -> None:
    indices = of_texts(converted(vectorized(), tmp_path / "model.keras"))
    np.testing.assert_array_equal(indices, [[1, 5, 0, 0], [3, 4, 1, 1], [0, 0, 0, 0], [1, 5, 5, 0]])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"output_mode": "count"}, [[1, 0, 0, 0, 1], [2, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 2]]),
        (
            {"output_mode": "multi_hot", "pad_to_max_tokens": True, "max_tokens": 6},
            [[1, 0, 0, 0, 1, 0], [1, 0, 1, 1, 0, 0], [0] * 6, [1, 0, 0, 0, 1, 0]],
        ),
        (
            {"output_mode": "tf_idf", "idf_weights": [0.5, 1.0, 2.0, 0.5]},
            [[1, 0, 0, 0, 0.5], [2, 0, 1, 2, 0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 1]],
        ),
    ],
)
def test_counts_of_words(options: dict[str, Any], expected: Any, tmp_path: Path) -> None:
    np.testing.assert_allclose(of_texts(converted(vectorized(**options), tmp_path / "model.keras")), expected)


def test_texts_as_they_are(tmp_path: Path) -> None:
    indices = of_texts(converted(vectorized(standardize=None, output_sequence_length=2), tmp_path / "model.keras"))
    np.testing.assert_array_equal(indices, [[1, 1], [3, 4], [0, 0], [1, 5]])


def test_splits_by_characters_are_refused(tmp_path: Path) -> None:
    vectorized(split="character").save(tmp_path / "model.keras")
    with pytest.raises(moir.errors.ConversionError, match="split by 'character'"):
        moir.convert_model(tmp_path / "model.keras")


@pytest.mark.parametrize("options", [{}, {"window": "hamming", "mag_exp": 1.0, "power_to_db": False, "sequence_length": 100}])
def test_spectrogram_on_the_mel_scale(options: dict[str, Any], tmp_path: Path) -> None:
    x = keras.Input((800,), name="x")
    layer = layers.MelSpectrogram(num_mel_bins=12, sampling_rate=8000, sequence_stride=100, fft_length=256, **options)
    model = keras.Model(x, layer(x))
    signal = np.random.default_rng(2).normal(size=(2, 800)).astype(np.float32)
    np.testing.assert_allclose(converted(model, tmp_path / "model.keras")(signal)[0], np.asarray(model(signal)), rtol=1e-3, atol=1e-3)


def test_nearest_pixels_are_not_smoothed(tmp_path: Path) -> None:
    x = keras.Input((9, 14, 2), name="x")
    model = keras.Model(x, layers.Resizing(4, 5, "nearest", antialias=True)(x))
    image = np.random.default_rng(2).normal(size=(2, 9, 14, 2)).astype(np.float32)
    np.testing.assert_allclose(converted(model, tmp_path / "model.keras")(image)[0], np.asarray(model(image)), rtol=1e-5)


WHOLE = np.array([[1], [-7], [0], [123456]])


@pytest.mark.parametrize(
    ("layer", "values"),
    [
        (layers.Hashing(5), np.array([["a"], [""], ["good day"], ["a"]])),
        (layers.Hashing(7, mask_value="", output_mode="one_hot"), np.array([["a"], [""], ["good day"], ["b"]])),
        (layers.Hashing(7, mask_value=0), WHOLE),
        (layers.Hashing(4, output_mode="count"), np.array([["a", "b"], ["c", "d"]])),
        (layers.StringLookup(vocabulary=["a", "b"], num_oov_indices=3), np.array([["a"], ["zoo"], ["animals"], ["day"]])),
        (layers.IntegerLookup(vocabulary=[1, 2], num_oov_indices=3, oov_method="farmhash"), WHOLE),
    ],
    ids=["texts", "masked texts", "masked integers", "counts", "unknown words", "unknown integers"],
)
def test_hashes(layer: Any, values: Any, tmp_path: Path) -> None:
    load_tokenizers()
    x = keras.Input((values.shape[1],), dtype="string" if values.dtype.kind == "U" else "int64", name="x")
    model = keras.Model(x, layer(x))
    expected = layer(keras.ops.convert_to_tensor(values, dtype="string") if values.dtype.kind == "U" else values)
    bins = converted(model, tmp_path / "model.keras")(openvino.Tensor(values))[0]
    np.testing.assert_array_equal(bins, np.asarray(expected))


def test_a_hash_with_a_salt_is_refused(tmp_path: Path) -> None:
    x = keras.Input((1,), dtype="string", name="x")
    keras.Model(x, layers.Hashing(5, salt=7)(x)).save(tmp_path / "model.keras")
    with pytest.raises(moir.errors.ConversionError, match="without a salt"):
        moir.convert_model(tmp_path / "model.keras")


@pytest.mark.parametrize("way", ["crop_to_aspect_ratio", "pad_to_aspect_ratio"])
def test_the_aspect_ratio_of_images(way: str, tmp_path: Path) -> None:
    # A border of five columns is two of each side, so that the image has another size.
    x, images = keras.Input((7, 4, 2), name="x"), np.random.default_rng(0).normal(size=(2, 7, 4, 2)).astype(np.float32)
    layer = layers.Resizing(6, 8, interpolation="nearest", **{way: True})
    model = keras.Model(x, layer(x))
    resized = converted(model, tmp_path / "model.keras")([images])[0]
    np.testing.assert_array_equal(resized, np.asarray(model(images)))
