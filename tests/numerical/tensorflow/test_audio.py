"""Sound: spectrograms, coefficients, and a network in the structure of TensorFlow's speech commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.conversion import save_model
from moir.errors import ConversionError
from moir.interface import convert_model
from tests.numerical.runtime import core, run
from tests.numerical.tensorflow.conversion import build, check, expected_results

RANDOM = np.random.default_rng(41)
SOUND = RANDOM.uniform(-1, 1, (900, 2)).astype(np.float32)
raw = tf.raw_ops


@pytest.mark.parametrize(("size", "stride"), [(400, 160), (256, 100), (480, 320), (30, 10), (2, 3)])
@pytest.mark.parametrize("squared", [True, False])
def test_spectrogram(size: int, stride: int, squared: bool) -> None:
    check(
        lambda x: raw.AudioSpectrogram(input=x, window_size=size, stride=stride, magnitude_squared=squared),
        {"x": SOUND},
        atol=1e-4,
        forms=("static", "dynamic"),
    )


def test_spectrogram_of_less_than_a_window() -> None:
    check(lambda x: raw.AudioSpectrogram(input=x, window_size=64, stride=8), {"x": SOUND[:50]}, forms=("dynamic",))


LIMITS: dict[str, Any] = {
    "defaults": (480, 16000, {}),
    "other limits": (480, 16000, {"upper_frequency_limit": 7000.0, "lower_frequency_limit": 50.0}),
    "other counts": (480, 16000, {"filterbank_channel_count": 30, "dct_coefficient_count": 30}),
    "empty channels": (64, 8000, {}),
    "from the lowest": (512, 8000, {"lower_frequency_limit": 0.0, "filterbank_channel_count": 7, "dct_coefficient_count": 5}),
}


@pytest.mark.parametrize("name", LIMITS)
def test_coefficients(name: str) -> None:
    size, rate, limits = LIMITS[name]

    def function(x: Any) -> Any:
        squares = raw.AudioSpectrogram(input=x, window_size=size, stride=100, magnitude_squared=True)
        return raw.Mfcc(spectrogram=squares, sample_rate=rate, **limits)

    check(function, {"x": SOUND}, rtol=1e-3, atol=1e-3, forms=("static", "dynamic"))


def test_limits_beyond_the_frequencies_are_refused() -> None:
    squares = RANDOM.random((1, 3, 33)).astype(np.float32)
    with pytest.raises(ConversionError, match="half of the sample rate"):
        check(lambda x: raw.Mfcc(spectrogram=x, sample_rate=8000, upper_frequency_limit=5000.0), {"x": squares}, expected=[squares])
    with pytest.raises(ConversionError, match="not a positive constant"):
        check(
            lambda x, rate: raw.Mfcc(spectrogram=x, sample_rate=rate), {"x": squares, "rate": np.array(16000, np.int32)}, expected=[squares]
        )


WEIGHTS: dict[str, Any] = {
    "bias": np.full(4, 0.1, np.float32),
    "first": RANDOM.normal(0, 0.1, (20, 8, 1, 4)).astype(np.float32),
    "second": RANDOM.normal(0, 0.1, (3, 4, 4, 5)).astype(np.float32),
    "last": RANDOM.normal(0, 0.1, (3 * 7 * 5, 6)).astype(np.float32),
}


def speech_commands(sound: Any, rate: Any) -> Any:
    """The network `conv` of the speech commands of TensorFlow, with fewer filters, for a fifth of a second."""
    squares = raw.AudioSpectrogram(input=sound, window_size=480, stride=320, magnitude_squared=True)
    result = raw.Mfcc(spectrogram=squares, sample_rate=rate, dct_coefficient_count=40)
    image = tf.reshape(tf.reshape(result, [-1, 240]), [-1, 6, 40, 1])
    hidden = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(image, WEIGHTS["first"], 1, "SAME"), WEIGHTS["bias"]))
    pooled = tf.nn.max_pool2d(hidden, 2, 2, "SAME")
    hidden = tf.nn.relu(tf.nn.conv2d(pooled, WEIGHTS["second"], [1, 1, 3, 1], "SAME"))
    return tf.nn.softmax(tf.matmul(tf.reshape(hidden, [-1, 3 * 7 * 5]), WEIGHTS["last"]))


def test_speech_commands_after_the_decoder(tmp_path: Path) -> None:
    sound = RANDOM.uniform(-1, 1, (2240, 1)).astype(np.float32)
    wav = tf.audio.encode_wav(sound, 16000).numpy()
    graph, names = build(lambda wav: speech_commands(*named_decoder(wav)), {"wav": np.array(wav, object)})
    source = tmp_path / "conv_actions.pb"
    source.write_bytes(graph.as_graph_def().SerializeToString())
    with pytest.raises(ConversionError, match="DecodeWav"):
        convert_model(source)
    converted = convert_model(source, input=["decoded:0[2240,1]", "decoded:1->16000"])
    save_model(converted, tmp_path / "model.xml")
    model = core().read_model(tmp_path / "model.xml")
    samples = tf.audio.decode_wav(wav, 1, 2240).audio.numpy()
    actual = run(model, {model.inputs[0].get_node().get_friendly_name(): samples})
    np.testing.assert_allclose(actual[0], expected_results(graph, names, {"wav": np.array(wav, object)})[0], rtol=1e-3, atol=1e-4)


def named_decoder(wav: Any) -> Any:
    decoded = tf.raw_ops.DecodeWav(contents=wav, desired_channels=1, desired_samples=2240, name="decoded")
    return decoded.audio, decoded.sample_rate
