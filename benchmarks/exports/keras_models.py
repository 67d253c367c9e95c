"""Networks of Keras at random weights, as SavedModels with inputs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

APPLICATIONS = {
    "MobileNet": {"alpha": 0.25},
    "MobileNetV2": {"alpha": 0.35},
    "MobileNetV3Small": {"alpha": 0.75, "include_preprocessing": True},
    "EfficientNetB0": {},
    "EfficientNetV2B0": {},
    "DenseNet121": {},
    "ResNet50V2": {},
    "InceptionV3": {},
    "Xception": {},
    "NASNetMobile": {},
    "ConvNeXtTiny": {},
}
"""Networks of `keras.applications`, with what they are built with."""

SIZE = 96

Built = tuple[keras.Model, list[Any]]


def application(name: str) -> Built:
    """A network of `keras.applications` for small images."""
    model = getattr(keras.applications, name)(weights=None, classes=7, input_shape=(SIZE, SIZE, 3), **APPLICATIONS[name])
    return model, [np.random.default_rng(0).uniform(0, 255 if "preprocessing" in str(APPLICATIONS[name]) else 1, (1, SIZE, SIZE, 3))]


def encoder(*, causal: bool = False, masked: bool = False) -> Built:
    """Two layers of a transformer."""
    tokens = keras.Input((None,), dtype="int32")
    x = layers.Embedding(90, 32, mask_zero=masked)(tokens)
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 8)(x, x, use_causal_mask=causal)
        x = layers.LayerNormalization(epsilon=1e-6)(x + attended)
        hidden = layers.Dense(32)(layers.Dense(64, activation="gelu")(x))
        x = layers.LayerNormalization(epsilon=1e-6)(x + hidden)
    values = np.random.default_rng(0).integers(1, 90, (2, 11))
    values[0, -3:] = 0
    return keras.Model(tokens, layers.Dense(7)(x)), [values.astype(np.int32)]


def vision_transformer() -> Built:
    """Patches, and two layers of a transformer."""
    image = keras.Input((48, 48, 3))
    x = layers.Reshape((36, 32))(layers.Conv2D(32, 8, strides=8)(image))
    for _ in range(2):
        y = layers.LayerNormalization()(x)
        x = x + layers.MultiHeadAttention(4, 8)(y, y)
        x = x + layers.Dense(32)(layers.Dense(64, activation="gelu")(layers.LayerNormalization()(x)))
    return keras.Model(image, layers.Dense(7)(layers.GlobalAveragePooling1D()(x))), [noise(1, 48, 48, 3)]


def mixer() -> Built:
    """Dense layers along patches and along channels in turn."""
    image = keras.Input((48, 48, 3))
    x = layers.Reshape((36, 32))(layers.Conv2D(32, 8, strides=8)(image))
    for _ in range(2):
        y = layers.Permute((2, 1))(layers.LayerNormalization()(x))
        x = x + layers.Permute((2, 1))(layers.Dense(36)(layers.Dense(24, activation="gelu")(y)))
        x = x + layers.Dense(32)(layers.Dense(64, activation="gelu")(layers.LayerNormalization()(x)))
    return keras.Model(image, layers.Dense(7)(layers.GlobalAveragePooling1D()(x))), [noise(1, 48, 48, 3)]


def channel_last_mlp() -> Built:
    """Convolutions and dense layers along the channels in turn, as ConvNeXt has them."""
    image = keras.Input((48, 48, 3))
    x = layers.Conv2D(32, 4, strides=4)(image)
    for _ in range(3):
        y = layers.LayerNormalization(epsilon=1e-6)(layers.DepthwiseConv2D(7, padding="same")(x))
        x = x + layers.Dense(32)(layers.Dense(128, activation="gelu")(y))
    return keras.Model(image, layers.Dense(7)(layers.GlobalAveragePooling2D()(x))), [noise(1, 48, 48, 3)]


def recurrent(*cells: Any, both: bool = False) -> Built:
    """Layers of recurrent cells over tokens."""
    tokens = keras.Input((None,), dtype="int32")
    x = layers.Embedding(90, 16)(tokens)
    for number, cell in enumerate(cells):
        layer = cell(24, return_sequences=number < len(cells) - 1)
        x = layers.Bidirectional(layer)(x) if both else layer(x)
    return keras.Model(tokens, layers.Dense(5, activation="softmax")(x)), [
        np.random.default_rng(0).integers(1, 90, (2, 9)).astype(np.int32)
    ]


def sound() -> Built:
    """One-dimensional convolutions and a recurrent layer over samples."""
    samples = keras.Input((1600, 1))
    x = samples
    for width in (8, 16, 32):
        x = layers.ReLU()(layers.BatchNormalization()(layers.Conv1D(width, 9, strides=4, padding="same")(x)))
    x = layers.Bidirectional(layers.GRU(16))(x)
    return keras.Model(samples, layers.Dense(5)(x)), [noise(1, 1600, 1)]


def spectrum() -> Built:
    """Convolutions of a spectrogram."""
    samples = keras.Input((1600,))
    x = layers.Lambda(lambda s: tf.abs(tf.signal.stft(s, 128, 64))[..., None], output_shape=(24, 65, 1))(samples)
    x = layers.Conv2D(16, 3, strides=2, activation="relu")(layers.Conv2D(8, 3, activation="relu")(tf_log(x)))
    return keras.Model(samples, layers.Dense(5)(layers.Flatten()(x))), [noise(1, 1600)]


def tf_log(x: Any) -> Any:
    """The logarithm of amplitudes."""
    return layers.Lambda(lambda s: tf.math.log(s + 1e-6), output_shape=lambda shape: shape)(x)


def unet() -> Built:
    """A small U-Net."""
    image = keras.Input((64, 64, 3))
    skips, x = [], image
    for width in (8, 16, 32):
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
        skips.append(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(48, 3, padding="same", activation="relu")(x)
    for width in (32, 16, 8):
        x = layers.Conv2DTranspose(width, 2, strides=2)(x)
        x = layers.Conv2D(width, 3, padding="same", activation="relu")(layers.Concatenate()([x, skips.pop()]))
    return keras.Model(image, layers.Conv2D(3, 1, activation="softmax")(x)), [noise(1, 64, 64, 3)]


def detector() -> Built:
    """Boxes and scores at two sizes, and non-maximum suppression."""
    image = keras.Input((64, 64, 3))
    x = image
    boxes, scores = [], []
    for width in (8, 16, 24, 32):
        x = layers.ReLU(6.0)(layers.BatchNormalization()(layers.Conv2D(width, 3, strides=2, padding="same")(x)))
        if width >= 24:
            boxes.append(layers.Reshape((-1, 1, 4))(layers.Conv2D(8, 3, padding="same")(x)))
            scores.append(layers.Reshape((-1, 3))(layers.Conv2D(6, 3, padding="same", activation="sigmoid")(x)))

    class Suppression(layers.Layer):
        def call(self, inputs: Any) -> Any:
            detections = tf.image.combined_non_max_suppression(*inputs, 5, 10, score_threshold=0.3)
            return detections.nmsed_boxes, detections.nmsed_scores

    outputs = Suppression()([layers.Concatenate(axis=1)(boxes), layers.Concatenate(axis=1)(scores)])
    return keras.Model(image, outputs), [noise(1, 64, 64, 3)]


def text_convolutions() -> Built:
    """Convolutions of several widths over tokens."""
    tokens = keras.Input((20,), dtype="int32")
    x = layers.Embedding(90, 16)(tokens)
    parts = [layers.GlobalMaxPooling1D()(layers.Conv1D(12, width, activation="relu")(x)) for width in (2, 3, 4)]
    return keras.Model(tokens, layers.Dense(3)(layers.Concatenate()(parts))), [np.arange(20, dtype=np.int32)[None]]


def noise(*shape: int) -> np.ndarray:
    """Random numbers."""
    return np.random.default_rng(0).normal(size=shape)


NETWORKS: dict[str, Callable[[], Built]] = {
    **{f"keras_{name}": (lambda name=name: application(name)) for name in APPLICATIONS},
    "keras_encoder": encoder,
    "keras_encoder_masked": lambda: encoder(masked=True),
    "keras_decoder": lambda: encoder(causal=True),
    "keras_vit": vision_transformer,
    "keras_mixer": mixer,
    "keras_channel_last_mlp": channel_last_mlp,
    "keras_lstm": lambda: recurrent(layers.LSTM, layers.LSTM),
    "keras_gru": lambda: recurrent(layers.GRU),
    "keras_bilstm": lambda: recurrent(layers.LSTM, both=True),
    "keras_rnn": lambda: recurrent(layers.SimpleRNN, layers.GRU),
    "keras_sound": sound,
    "keras_spectrum": spectrum,
    "keras_unet": unet,
    "keras_detector": detector,
    "keras_text_convolutions": text_convolutions,
}
"""Networks by name."""


def export_keras(folder: Path, only: str, again: bool) -> int:
    """Write `NAME/saved_model` of each network, with `inputs.npz` beside it; returns how many failed."""
    failed = 0
    for name, builder in NETWORKS.items():
        path = folder / name / "saved_model"
        if not any(fnmatch(name, glob) for glob in only.split(",")) or ((path / "saved_model.pb").exists() and not again):
            continue
        start = time.perf_counter()
        try:
            keras.utils.set_random_seed(1)
            model, inputs = builder()
            signature = [
                tf.TensorSpec((None, *tensor.shape[1:]), tensor.dtype, f"input_{number}") for number, tensor in enumerate(model.inputs)
            ]
            model.export(path, input_signature=signature, verbose=False)
            names = {
                f"input_{number}": np.asarray(value, tensor.dtype)
                for number, (value, tensor) in enumerate(zip(inputs, model.inputs, strict=True))
            }
            np.savez(path.with_name("inputs.npz"), **names)
        except Exception as error:
            failed += 1
            print(f"{name}: not exported: {str(error).strip().splitlines()[0][:200]}", flush=True)
        else:
            print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
        keras.backend.clear_session()
    return failed
