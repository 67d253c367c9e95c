"""Every layer, with its options: many in one model for each shape of input, so that few models are compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import moir
from tests.numerical.keras.models import differences, keras, randomize

layers = keras.layers

VECTORS: dict[str, Any] = {
    "Dense": lambda: layers.Dense(5, activation="relu"),
    "Dense without bias": lambda: layers.Dense(5, use_bias=False),
    "ReLU": lambda: layers.ReLU(max_value=1.0, negative_slope=0.1, threshold=0.2),
    "ReLU at a threshold": lambda: keras.Sequential([layers.Activation(keras.ops.sign), layers.ReLU(threshold=1.0, negative_slope=0.5)]),
    "LeakyReLU": lambda: layers.LeakyReLU(0.2),
    "ELU": lambda: layers.ELU(0.7),
    "PReLU": layers.PReLU,
    "Softmax": layers.Softmax,
    "Dropout": lambda: layers.Dropout(0.5),
    "GaussianNoise": lambda: layers.GaussianNoise(0.5),
    "ActivityRegularization": lambda: layers.ActivityRegularization(l1=0.1),
    "BatchNormalization": layers.BatchNormalization,
    "BatchNormalization without scale": lambda: layers.BatchNormalization(scale=False),
    "BatchNormalization without center": lambda: layers.BatchNormalization(center=False),
    "LayerNormalization": layers.LayerNormalization,
    "RMSNormalization": layers.RMSNormalization,
    "UnitNormalization": layers.UnitNormalization,
    "Normalization": lambda: layers.Normalization(mean=[0.1] * 6, variance=[2.0] * 6),
    "Rescaling": lambda: layers.Rescaling(0.5, offset=1.0),
    "Discretization": lambda: layers.Discretization([-1.0, 0.0, 1.0]),
    "Discretization of NaN": lambda: keras.Sequential([layers.Activation(keras.ops.log), layers.Discretization([-1.0, 0.0])]),
    "Discretization one_hot": lambda: layers.Discretization([-1.0, 0.0, 1.0], output_mode="one_hot"),
    "RepeatVector": lambda: layers.RepeatVector(3),
    "Reshape": lambda: layers.Reshape((2, -1)),
    "Flatten": layers.Flatten,
    "Identity": layers.Identity,
    "SpectralNormalization": lambda: layers.SpectralNormalization(layers.Dense(4)),
    **{
        f"Activation {name}": lambda name=name: layers.Activation(name)
        for name in (
            *("celu", "elu", "exponential", "gelu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_tanh", "leaky_relu", "linear"),
            *("log_sigmoid", "log_softmax", "mish", "relu", "relu6", "selu", "sigmoid", "silu", "softmax", "soft_shrink", "softplus"),
            *("softsign", "sparse_plus", "sparse_sigmoid", "squareplus", "tanh", "tanh_shrink", "glu", "sparsemax"),
        )
    },
}

SEQUENCES: dict[str, Any] = {
    "Conv1D": lambda: layers.Conv1D(4, 3, strides=2, padding="same", activation="tanh"),
    "Conv1D causal": lambda: layers.Conv1D(4, 3, padding="causal", dilation_rate=2),
    "Conv1D groups": lambda: layers.Conv1D(4, 3, groups=2),
    "Conv1DTranspose": lambda: layers.Conv1DTranspose(4, 3, strides=2),
    "Conv1DTranspose same": lambda: layers.Conv1DTranspose(4, 3, strides=2, padding="same"),
    "DepthwiseConv1D": lambda: layers.DepthwiseConv1D(3, depth_multiplier=2),
    "SeparableConv1D": lambda: layers.SeparableConv1D(5, 3, padding="same"),
    "MaxPooling1D": lambda: layers.MaxPooling1D(3, strides=2, padding="same"),
    "AveragePooling1D": lambda: layers.AveragePooling1D(3, strides=2, padding="same"),
    "GlobalMaxPooling1D": layers.GlobalMaxPooling1D,
    "GlobalAveragePooling1D": lambda: layers.GlobalAveragePooling1D(keepdims=True),
    "AdaptiveAveragePooling1D": lambda: layers.AdaptiveAveragePooling1D(3),
    "AdaptiveMaxPooling1D": lambda: layers.AdaptiveMaxPooling1D(3),
    "Cropping1D": lambda: layers.Cropping1D((1, 2)),
    "ZeroPadding1D": lambda: layers.ZeroPadding1D((1, 2)),
    "UpSampling1D": lambda: layers.UpSampling1D(3),
    "Permute": lambda: layers.Permute((2, 1)),
    "EinsumDense": lambda: layers.EinsumDense("abc,cd->abd", output_shape=(None, 5), bias_axes="d"),
    "EinsumDense of heads": lambda: layers.EinsumDense("abc,cde->abde", output_shape=(None, 2, 3), bias_axes="de"),
    "EinsumDense over steps": lambda: layers.EinsumDense("abc,bd->adc", output_shape=(4, 6)),
    "GroupNormalization": lambda: layers.GroupNormalization(3),
    "LayerNormalization over two axes": lambda: layers.LayerNormalization(axis=[1, 2]),
    "LayerNormalization over steps": lambda: layers.LayerNormalization(axis=1),
    "BatchNormalization of steps": lambda: layers.BatchNormalization(axis=1),
    "PReLU": lambda: layers.PReLU(shared_axes=[1]),
    "SpatialDropout1D": lambda: layers.SpatialDropout1D(0.5),
    "Masking": lambda: layers.Masking(0.0),
    "LSTM": lambda: layers.LSTM(4),
    "LSTM sequences": lambda: layers.LSTM(4, return_sequences=True, go_backwards=True),
    "LSTM activations": lambda: layers.LSTM(4, activation="elu", recurrent_activation="hard_sigmoid", return_sequences=True),
    "LSTM hard sigmoid": lambda: layers.LSTM(4, recurrent_activation="hard_sigmoid", return_sequences=True),
    "LSTM relu": lambda: layers.LSTM(4, activation="relu"),
    "LSTM without bias": lambda: layers.LSTM(4, use_bias=False),
    "GRU": lambda: layers.GRU(4, return_sequences=True),
    "GRU reset before": lambda: layers.GRU(4, reset_after=False),
    "GRU activations": lambda: layers.GRU(4, activation="softsign", go_backwards=True, return_sequences=True),
    "GRU hard sigmoid": lambda: layers.GRU(4, activation="hard_sigmoid", recurrent_activation="hard_sigmoid", go_backwards=True),
    "GRU without bias": lambda: layers.GRU(4, use_bias=False),
    "SimpleRNN": lambda: layers.SimpleRNN(4, activation="relu"),
    "SimpleRNN sequences": lambda: layers.SimpleRNN(4, return_sequences=True),
    "RNN of a cell": lambda: layers.RNN(layers.LSTMCell(4), return_sequences=True),
    "RNN of stacked cells": lambda: layers.RNN([layers.LSTMCell(4), layers.GRUCell(3), layers.SimpleRNNCell(5)]),
    "Bidirectional": lambda: layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
    "Bidirectional last": lambda: layers.Bidirectional(layers.GRU(4), merge_mode="sum"),
    "Bidirectional ave": lambda: layers.Bidirectional(layers.SimpleRNN(4, return_sequences=True), merge_mode="ave"),
    "TimeDistributed": lambda: layers.TimeDistributed(layers.Dense(3, activation="softmax")),
}

IMAGES: dict[str, Any] = {
    # The scale is multiplied along the last axis, which is of the same size.
    "RMSNormalization": lambda: keras.Sequential([layers.Cropping2D(((1, 2), (2, 2))), layers.RMSNormalization(axis=1)]),
    "Conv2D": lambda: layers.Conv2D(4, (3, 2), strides=(2, 1), padding="same"),
    "Conv2D dilated": lambda: layers.Conv2D(4, 3, dilation_rate=2),
    "Conv2D groups": lambda: layers.Conv2D(4, 3, groups=2, use_bias=False),
    "Conv2DTranspose": lambda: layers.Conv2DTranspose(3, 3, strides=2, padding="same"),
    "Conv2DTranspose valid": lambda: layers.Conv2DTranspose(3, 2, strides=3),
    "Conv2DTranspose output_padding": lambda: layers.Conv2DTranspose(3, 4, strides=3, padding="same", output_padding=1),
    "DepthwiseConv2D": lambda: layers.DepthwiseConv2D(3, depth_multiplier=2, padding="same"),
    "SeparableConv2D": lambda: layers.SeparableConv2D(5, 3, depth_multiplier=2),
    "MaxPooling2D": lambda: layers.MaxPooling2D((2, 3), padding="same"),
    "AveragePooling2D": lambda: layers.AveragePooling2D(3, strides=2, padding="same"),
    "GlobalMaxPooling2D": layers.GlobalMaxPooling2D,
    "GlobalAveragePooling2D": layers.GlobalAveragePooling2D,
    "AdaptiveAveragePooling2D": lambda: layers.AdaptiveAveragePooling2D((3, 2)),
    "Cropping2D": lambda: layers.Cropping2D(((1, 2), (0, 1))),
    "ZeroPadding2D": lambda: layers.ZeroPadding2D((1, 2)),
    "UpSampling2D": lambda: layers.UpSampling2D((2, 3)),
    "UpSampling2D bilinear": lambda: layers.UpSampling2D(2, interpolation="bilinear"),
    "Resizing": lambda: layers.Resizing(5, 11),
    "Resizing nearest": lambda: layers.Resizing(5, 11, interpolation="nearest"),
    "Resizing bicubic": lambda: layers.Resizing(9, 11, interpolation="bicubic"),
    "Resizing lanczos3": lambda: layers.Resizing(9, 11, interpolation="lanczos3"),
    "Resizing area": lambda: layers.Resizing(5, 4, interpolation="area"),
    "Resizing crop": lambda: layers.Resizing(4, 6, crop_to_aspect_ratio=True),
    "Resizing pad": lambda: layers.Resizing(4, 6, pad_to_aspect_ratio=True),
    "CenterCrop": lambda: layers.CenterCrop(4, 5),
    "GroupNormalization": lambda: layers.GroupNormalization(2),
    "LayerNormalization": lambda: layers.LayerNormalization(axis=[1, 3]),
    "BatchNormalization": layers.BatchNormalization,
    "RandomFlip": layers.RandomFlip,
    "TimeDistributed": lambda: layers.TimeDistributed(layers.Conv1D(3, 2)),
    "Bidirectional ConvLSTM1D": lambda: layers.ConvLSTM1D(3, 2, padding="same", return_sequences=True),
}

VOLUMES: dict[str, Any] = {
    "Conv3D": lambda: layers.Conv3D(3, 2, strides=2, padding="same"),
    "Conv3DTranspose": lambda: layers.Conv3DTranspose(2, 2, strides=2),
    "MaxPooling3D": layers.MaxPooling3D,
    "AveragePooling3D": lambda: layers.AveragePooling3D(2, padding="same"),
    "GlobalAveragePooling3D": layers.GlobalAveragePooling3D,
    "Cropping3D": lambda: layers.Cropping3D(1),
    "ZeroPadding3D": lambda: layers.ZeroPadding3D((1, 2, 0)),
    "UpSampling3D": lambda: layers.UpSampling3D(2),
    "ConvLSTM2D": lambda: layers.ConvLSTM2D(2, 2, padding="valid", return_sequences=True),
}

CASES = {"vectors": ((6,), VECTORS), "sequences": ((8, 6), SEQUENCES), "images": ((7, 8, 4), IMAGES), "volumes": ((4, 5, 6, 2), VOLUMES)}


@pytest.mark.parametrize("name", CASES)
def test_layers(name: str, tmp_path: Path) -> None:
    shape, cases = CASES[name]
    x = keras.Input(shape, name="x")
    model = keras.Model(x, [make()(x) for make in cases.values()])
    randomize(model)
    assert not differences(model, tmp_path / "model.keras", list(cases))


def test_crops_have_the_element_type_of_their_layer(tmp_path: Path) -> None:
    """Keras declares it, also for inference, where it leaves images as they are."""
    x = keras.Input((4, 4, 3), name="x")
    model = keras.Model(x, layers.RandomCrop(2, 2, dtype="mixed_float16")(x))
    model.save(tmp_path / "model.keras")
    (output,) = moir.to_openvino(moir.convert_model(tmp_path / "model.keras")).outputs
    assert output.element_type.to_dtype().name == model.outputs[0].dtype == "float16"
