"""Containers of language models, `.litertlm`: the model in them that a signature names."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
import pytest

import moir
from moir.errors import ModelFileError, UsageError
from moir.frontends.tflite.containers import model_sections, opened_model
from tests.numerical.runtime import core

tf: Any = pytest.importorskip("tensorflow")

BLOCK = 1 << 14
MODEL, TOKENIZER, TEXT = 3, 4, 9


def header(sections: Sequence[tuple[str, int, int, int]]) -> bytes:
    """The flatbuffer of sections: their model types, begins, ends and types."""
    builder = flatbuffers.Builder(1024)

    def vector(tables: Sequence[int]) -> int:
        builder.StartVector(4, len(tables), 4)
        for each in reversed(tables):
            builder.PrependUOffsetTRelative(each)
        return int(builder.EndVector())

    def table(fields: Sequence[tuple[int, str, int]]) -> int:
        builder.StartObject(4)
        for slot, kind, value in fields:
            getattr(builder, f"Prepend{kind}Slot")(slot, value, 0)
        return int(builder.EndObject())

    objects: list[int] = []
    for name, begin, end, kind in sections:
        items: list[int] = []
        if name:
            key, text = builder.CreateString("model_type"), builder.CreateString(name)
            value = table([(0, "UOffsetTRelative", text)])
            items = [table([(0, "UOffsetTRelative", key), (1, "Uint8", TEXT), (2, "UOffsetTRelative", value)])]
        listed = vector(items)
        objects.append(table([(0, "UOffsetTRelative", listed), (1, "Uint64", begin), (2, "Uint64", end), (3, "Uint8", kind)]))
    metadata = table([(0, "UOffsetTRelative", vector(objects))])
    builder.Finish(table([(1, "UOffsetTRelative", metadata)]))
    return bytes(builder.Output())


def container(*sections: tuple[str, int, bytes]) -> bytes:
    """A container of sections: their model types, types and contents."""
    content, rows = b"", []
    for name, kind, data in sections:
        begin = BLOCK + len(content)
        rows.append((name, begin, begin + len(data), kind))
        content += data + bytes(-len(data) % BLOCK)
    head = header(rows)
    return (struct.pack("<8s3I4xQ", b"LITERTLM", 1, 4, 0, 32 + len(head)) + head).ljust(BLOCK, b"\0") + content


def model(**factors: float) -> bytes:
    """A model whose signatures multiply by numbers."""

    class Scaled(tf.Module):
        pass

    module = Scaled()
    functions = {
        name: tf.function(lambda x, factor=factor: {"y": x * factor}, input_signature=[tf.TensorSpec([2], tf.float32, "x")])
        for name, factor in factors.items()
    }
    concrete = {name: function.get_concrete_function() for name, function in functions.items()}
    module.functions = functions
    converter = tf.lite.TFLiteConverter.from_concrete_functions(list(concrete.values()), module)
    if len(concrete) == 1:
        return bytes(converter.convert())
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=concrete)
        return bytes(tf.lite.TFLiteConverter.from_saved_model(folder, signature_keys=list(concrete)).convert())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("containers") / "model.litertlm"
    sections = [
        ("", TOKENIZER, b"words"),
        ("tf_lite_embedder", MODEL, model(twice=2.0)),
        ("tf_lite_prefill_decode", MODEL, model(decode=3.0, prefill=5.0)),
    ]
    path.write_bytes(container(*sections))
    return path


X = np.array([1, 2], np.float32)


@pytest.mark.parametrize(
    ("signature", "factor"),
    [("tf_lite_embedder", 2), ("decode", 3), ("prefill", 5), ("tf_lite_prefill_decode/prefill", 5)],
)
def test_a_signature_names_the_model(path: Path, signature: str, factor: float, tmp_path: Path) -> None:
    moir.save_model(moir.convert_model(path, signature=signature), tmp_path / "m.xml")
    result = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer([X])[0]
    np.testing.assert_allclose(result, X * factor)
    framework = moir.run(path, {"x": X}, signature=signature, runtime="framework")
    np.testing.assert_allclose(next(iter(framework.values())), X * factor)


@pytest.mark.parametrize(
    ("signature", "message"),
    [(None, "the container has 2 models"), ("decoder", "the container has no models with the signature 'decoder'")],
)
def test_which_models_there_are(path: Path, signature: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        moir.convert_model(path, signature=signature)
    assert "tf_lite_embedder" in str(caught.value) or "decode" in str(caught.value)


def test_a_single_model_needs_no_name(tmp_path: Path) -> None:
    path = tmp_path / "single.litertlm"
    path.write_bytes(container(("", MODEL, model(twice=2.0))))
    file, signature = opened_model(path)
    assert (signature, file.is_part) == (None, True)
    moir.convert_model(path)


@pytest.mark.parametrize("offset", [24, 32])
def test_damaged_headers(path: Path, tmp_path: Path, offset: int) -> None:
    damaged = tmp_path / "damaged.litertlm"
    damaged.write_bytes(with_damage(path, offset))
    with pytest.raises(ModelFileError, match="its header cannot be read"):
        moir.convert_model(damaged, signature="decode")


def test_damages_that_may_be_seen_or_not(path: Path, tmp_path: Path) -> None:
    damaged, refusals = tmp_path / "damaged.litertlm", 0
    for offset in range(32, 300, 4):
        damaged.write_bytes(with_damage(path, offset))
        try:
            moir.convert_model(damaged, signature="decode")
        except (ModelFileError, UsageError):
            refusals += 1
    assert refusals > 20


def with_damage(path: Path, offset: int) -> bytes:
    content = bytearray(path.read_bytes())
    content[offset : offset + 4] = b"\xff\xff\xff\x7f"
    return bytes(content)


def test_no_model(tmp_path: Path) -> None:
    path = tmp_path / "tokens.litertlm"
    path.write_bytes(container(("", TOKENIZER, b"words")))
    with pytest.raises(ModelFileError, match="no model of TensorFlow Lite"):
        moir.convert_model(path)
    for size in (8, 20, 40, BLOCK):
        path.write_bytes(container(("", MODEL, model(twice=2.0)))[:size])
        with pytest.raises(ModelFileError):
            moir.convert_model(path)


def test_sections(path: Path) -> None:
    from moir.files.reading import map_content

    assert [each.name for each in model_sections(path, map_content(path))] == ["tf_lite_embedder", "tf_lite_prefill_decode"]
