"""Preprocessing of numbers, texts, images and sound."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import BICUBIC, Call, data_format, layers, numbers, recipe, spatial

WORDS = ("a", "b", "cc", "Dd", "e f", "", "zoo")


@recipe("Rescaling")
def rescaling(draw: Draw, _: str) -> Call:
    """A factor and an offset, or one of each channel."""
    shape = draw.filled(2, 4)
    scale: Any = draw.one_of((0.5, 1 / 255, 2, [0.5, 0.25, 2.0]))
    shape[-1] = 3 if isinstance(scale, list) else shape[-1]
    return Call(layers.Rescaling(scale, offset=draw.one_of((0.0, -1.0, 0.5))), [numbers(draw, shape)])


@recipe("Discretization")
def discretization(draw: Draw, _: str) -> Call:
    """Which interval a number is in."""
    bounds = sorted({round(float(each), 2) for each in draw.random.normal(size=draw.integer(1, 5))})
    mode = draw.one_of(("int", "int", "one_hot", "multi_hot", "count"))
    shape = draw.filled(1, 3) if mode == "int" else draw.filled(1, 2)
    return Call(layers.Discretization(bounds, output_mode=mode), [numbers(draw, shape)])


@recipe("CategoryEncoding")
def category_encoding(draw: Draw, _: str) -> Call:
    """Numbers of categories as vectors."""
    count, mode = draw.integer(2, 6), draw.one_of(("one_hot", "multi_hot", "count"))
    shape = draw.filled(1, 2)
    keywords = {"count_weights": numbers(draw, shape)} if mode == "count" and draw.chance(0.4) else {}
    made = layers.CategoryEncoding(count, output_mode=mode)
    return Call(made, [draw.between(draw.one_of((np.int32, np.int64)), shape, 0, count - 1)], keywords)


@recipe("IntegerLookup StringLookup")
def lookup(draw: Draw, name: str) -> Call:
    """Places in a vocabulary, as numbers or vectors."""
    of_text = name == "StringLookup"
    every: list[Any] = [each for each in WORDS if each] if of_text else [3, 7, 1, 100, 42]
    vocabulary = every[: draw.integer(2, len(every))]
    mode = draw.one_of(("int", "int", "one_hot", "multi_hot", "count", "tf_idf"))
    options: dict[str, Any] = {"vocabulary": vocabulary, "output_mode": mode, "num_oov_indices": draw.one_of((1, 1, 0, 2))}
    if mode == "tf_idf":
        options["idf_weights"] = [0.5 + index for index in range(len(vocabulary))]
    if draw.chance(0.3):
        options["mask_token"] = "" if of_text else 0
    invert = mode == "int" and draw.chance(0.25)
    shape = draw.filled(1, 2)
    if invert:
        options |= {"invert": True, "num_oov_indices": 1}
        return Call(getattr(layers, name)(**options), [draw.between(np.int64, shape, 0, len(vocabulary) - 1)])
    known = vocabulary if options["num_oov_indices"] == 0 else [*vocabulary, *(("x", "") if of_text else (5, 0, -3))]
    chosen = [draw.one_of(known) for _ in range(int(np.prod(shape)))]
    return Call(getattr(layers, name)(**options), [np.array(chosen, object if of_text else np.int64).reshape(shape)])


@recipe("Hashing HashedCrossing")
def hashing(draw: Draw, name: str) -> Call:
    """Numbers of bins that hashes say."""
    mode = draw.one_of(("int", "int", "one_hot"))
    shape = [draw.integer(1, 4), 1] if mode != "int" or name == "HashedCrossing" else draw.filled(1, 2)
    options: dict[str, Any] = {"num_bins": draw.integer(2, 20), "output_mode": mode}
    count = 1
    if name == "Hashing":
        options["salt"] = draw.one_of((None, None, 7, [1, 2]))
        options["mask_value"] = draw.one_of((None, None, ""))
    else:
        count = 2
    arrays = [
        draw.array(np.dtype(object), shape)
        if options.get("mask_value") == "" or draw.chance(0.6)
        else draw.array(np.dtype(np.int64), shape)
        for _ in range(count)
    ]
    return Call(getattr(layers, name)(**options), arrays, joined=count > 1)


@recipe("TextVectorization")
def text_vectorization(draw: Draw, _: str) -> Call:
    """Texts as places of their words."""
    mode = draw.one_of(("int", "int", "multi_hot", "count"))
    options: dict[str, Any] = {
        "vocabulary": ["a", "cc", "dd", "f"],
        "standardize": draw.one_of(("lower_and_strip_punctuation", "lower", "strip_punctuation", None)),
        "split": draw.one_of(("whitespace", "whitespace", "character")),
        "output_mode": mode,
    }
    if mode == "int":
        options["output_sequence_length"] = draw.one_of((None, 2, 5))
    texts = [draw.one_of((*WORDS, "a, cc!", "DD a f", "x  y")) for _ in range(draw.integer(1, 4))]
    return Call(layers.TextVectorization(**options), [np.array(texts, object).reshape(-1, 1)])


@recipe("Resizing")
def resizing(draw: Draw, _: str) -> Call:
    """Images of another size."""
    form = data_format(draw)
    way = draw.one_of(({}, {}, {}, {"crop_to_aspect_ratio": True}, {"pad_to_aspect_ratio": True}))
    made = layers.Resizing(
        *draw.integers(2, 1, 9),
        interpolation=draw.one_of(("bilinear", "bilinear", "nearest", BICUBIC, "lanczos3", "lanczos5")),
        antialias=draw.chance(0.15),
        data_format=form,
        **way,
    )
    return Call(made, [spatial(draw, 2, form, draw.integer(1, 3), low=2)], fixed=True)


@recipe("CenterCrop RandomCrop")
def crops(draw: Draw, name: str) -> Call:
    """The middle of images."""
    form = data_format(draw)
    sizes = draw.integers(2, 1, 9) if name == "CenterCrop" else draw.integers(2, 1, 4)
    return Call(getattr(layers, name)(*sizes, data_format=form), [spatial(draw, 2, form, draw.integer(1, 3), low=4)], fixed=True)


@recipe("STFTSpectrogram")
def spectrogram(draw: Draw, _: str) -> Call:
    """The spectrum of windows of a signal."""
    length = draw.one_of((4, 6, 8))
    made = layers.STFTSpectrogram(
        mode=draw.one_of(("log", "magnitude", "psd", "real", "imag", "angle", "stft")),
        frame_length=length,
        frame_step=draw.integer(1, 4),
        fft_length=draw.one_of((None, length * 2, 16)),
        window=draw.one_of(("hann", "hamming", None)),
        periodic=draw.chance(0.3),
        scaling=draw.one_of(("density", "spectrum", None)),
        padding=draw.one_of(("valid", "same")),
        expand_dims=draw.chance(0.2),
        data_format=data_format(draw),
    )
    return Call(made, [numbers(draw, [draw.integer(1, 2), 20, draw.integer(1, 2)])], fixed=True)


@recipe("MelSpectrogram")
def mel_spectrogram(draw: Draw, _: str) -> Call:
    """The spectrum of sound in the bands of the ear."""
    made = layers.MelSpectrogram(
        fft_length=draw.one_of((16, 32)),
        sequence_stride=draw.integer(4, 9),
        sampling_rate=draw.one_of((100, 16000)),
        num_mel_bins=draw.integer(2, 6),
        power_to_db=draw.chance(0.5),
        mag_exp=draw.one_of((1.0, 2.0)),
    )
    return Call(made, [numbers(draw, [draw.integer(1, 2), 64])], fixed=True)


@recipe(
    "RandomBrightness RandomContrast RandomFlip RandomRotation RandomTranslation RandomZoom RandomHue RandomSaturation RandomSharpness "
    "RandomColorJitter RandomErasing RandomGaussianBlur RandomGrayscale RandomInvert RandomPerspective RandomPosterization RandomShear "
    "RandomElasticTransform RandomColorDegeneration RandAugment AugMix MixUp CutMix AutoContrast Solarization"
)
def augmentation(draw: Draw, name: str) -> Call:
    """What training does with images."""
    options: dict[str, Any] = {
        "RandomBrightness": {"factor": 0.2},
        "RandomContrast": {"factor": 0.2},
        "RandomRotation": {"factor": 0.1},
        "RandomTranslation": {"height_factor": 0.1, "width_factor": 0.1},
        "RandomZoom": {"height_factor": 0.1},
        "RandomHue": {"factor": 0.2},
        "RandomSaturation": {"factor": 0.5},
        "RandomSharpness": {"factor": 0.5},
        "RandomColorDegeneration": {"factor": 0.5},
        "RandomPosterization": {"factor": 4},
    }.get(name, {})
    return Call(getattr(layers, name)(**options), [spatial(draw, 2, None, 3, low=3)])
