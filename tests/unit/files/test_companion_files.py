"""Files that are found through a model are in its folder: links, hard links and swapped files are not followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from moir import convert_model, save_model
from moir.errors import ConversionError, ModelFileError
from moir.files.reading import ModelFolder, map_file
from tests.unit.frontends.paddle.streams import split_stream

FIXTURES = Path(__file__).parents[2] / "fixtures"


def _ir(folder: Path) -> tuple[Path, Path]:
    digits = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"
    save_model(convert_model(digits), folder / "m.xml")
    return folder / "m.xml", folder / "m.bin"


def _caffe(folder: Path) -> tuple[Path, Path]:
    for suffix in ("prototxt", "caffemodel"):
        shutil.copy(FIXTURES / "caffe" / f"classifier.{suffix}", folder)
    return folder / "classifier.prototxt", folder / "classifier.caffemodel"


def _caffe_text(folder: Path) -> tuple[Path, Path]:
    text, binary = _caffe(folder)
    return binary, text


def _mxnet(folder: Path) -> tuple[Path, Path]:
    symbol = next((FIXTURES / "mxnet").glob("*-symbol.json"))
    parameters = next((FIXTURES / "mxnet").glob(symbol.name.replace("-symbol.json", "-*.params")))
    return Path(shutil.copy(symbol, folder)), Path(shutil.copy(parameters, folder))


def _paddle(folder: Path) -> tuple[Path, Path]:
    paths = [Path(shutil.copy(FIXTURES / "paddle" / f"classifier.{suffix}", folder)) for suffix in ("pdmodel", "pdiparams")]
    return paths[0], paths[1]


def _paddle_of_files(folder: Path) -> tuple[Path, Path]:
    """A program with a file for each parameter: the companion is one of them."""
    program = Path(shutil.copy(FIXTURES / "paddle" / "classifier.pdmodel", folder / "__model__"))
    for each in split_stream(FIXTURES / "paddle" / "classifier.pdmodel"):
        (folder / each.name).write_bytes(each.content)
    return program, folder / "conv2d_0.w_0"


def _checkpoint(folder: Path, pattern: str) -> tuple[Path, Path]:
    shutil.copytree(FIXTURES / "tensorflow" / "saved_model_v2", folder, dirs_exist_ok=True)
    return folder / "saved_model.pb", next((folder / "variables").glob(pattern))


def _saved_model(folder: Path) -> tuple[Path, Path]:
    shutil.copytree(FIXTURES / "tensorflow" / "saved_model_v2", folder, dirs_exist_ok=True)
    return folder, folder / "saved_model.pb"


def _checkpoint_index(folder: Path) -> tuple[Path, Path]:
    return _checkpoint(folder, "*.index")


def _checkpoint_data(folder: Path) -> tuple[Path, Path]:
    return _checkpoint(folder, "*.data-*")


MODELS = {
    "ir": _ir,
    "caffe": _caffe,
    "caffe-text": _caffe_text,
    "mxnet": _mxnet,
    "saved-model": _saved_model,
    "paddle": _paddle,
    "paddle-files": _paddle_of_files,
    "checkpoint-index": _checkpoint_index,
    "checkpoint-data": _checkpoint_data,
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_companion_outside_of_the_folder(
    tmp_path: Path, make: Callable[[Path], tuple[Path, Path]], link: Callable[[Path, Path], None]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    model, companion = make(folder)
    convert_model(model)
    outside = tmp_path / "outside"
    companion.rename(outside)
    link(outside, companion)
    with pytest.raises(ModelFileError, match=r"a link out of the folder|a hard link"):
        convert_model(model)


def test_weights_found_beside_one_of_two_texts(tmp_path: Path) -> None:
    """The user named two files, neither of which is the one with the weights."""
    folder = tmp_path / "model"
    folder.mkdir()
    text, weights = _caffe(folder)
    other = Path(shutil.copy(text, tmp_path / "other.prototxt"))
    convert_model(text, input_proto=other)
    weights.rename(tmp_path / "outside")
    weights.symlink_to(tmp_path / "outside")
    with pytest.raises(ModelFileError, match="a link out of the folder"):
        convert_model(text, input_proto=other)
    convert_model(weights, input_proto=text)


SECRETS = [
    "SECRET:x:0:0:root\n",
    "SECRET { SECRET: }\n",
    '{"SECRET": SECRET}\n',
    "SECRET = SECRET\n",
    "<SECRET a='SECRET'/>\n",
    "node { op: SECRET }",
    "node SECRET",
    "a: 'SECRET\n",
]


@pytest.mark.parametrize("content", SECRETS)
def test_messages_do_not_quote_a_file_that_is_no_model(tmp_path: Path, content: str) -> None:
    model, _ = _caffe_text(tmp_path)
    saved = FIXTURES / "tensorflow" / "saved_model_v2"
    for name in ("m.pb", "m.pbtxt", "m.meta", "m.onnx", "m.xml", "m-symbol.json", "m.prototxt", "m.params"):
        (tmp_path / name).write_text(content)
    text = tmp_path / "m.pbtxt"
    conversions: list[Callable[[], object]] = [
        *(lambda path=path: convert_model(path) for path in sorted(tmp_path.glob("m*"))),
        lambda: convert_model(model, input_proto=text),
        lambda: convert_model(model, caffe_proto=text),
        lambda: convert_model(model, custom_layers=text),
        lambda: convert_model(model, mean_file=text),
        lambda: convert_model(saved, tensorflow_object_detection_api_pipeline_config=text, transformations_config=text),
    ]
    for conversion in conversions:
        with pytest.raises(ConversionError) as error:
            conversion()
        assert "SECRET" not in str(error.value)


def test_link_to_the_folder_of_the_links_target(tmp_path: Path) -> None:
    """Caches of downloads keep all files of a model as links into one folder."""
    blobs, snapshot = tmp_path / "blobs", tmp_path / "snapshot"
    blobs.mkdir()
    snapshot.mkdir()
    model, companion = _ir(blobs)
    for path in (model, companion):
        (snapshot / path.name).symlink_to(path)
    convert_model(snapshot / model.name)


def test_file_that_is_swapped_between_opening_and_check(tmp_path: Path) -> None:
    model, data = tmp_path / "m.xml", tmp_path / "m.bin"
    data.write_bytes(b"secret")
    with data.open("rb") as opened:
        ModelFolder(model).check_opened(data, opened.fileno())
        data.unlink()
        data.write_bytes(b"decent")
        with pytest.raises(ModelFileError, match="replaced while it was opened"):
            ModelFolder(model).check_opened(data, opened.fileno())


def test_file_that_the_user_named_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")
    os.link(tmp_path / "a", tmp_path / "b")
    assert map_file(tmp_path / "b") is not None
    assert map_file(tmp_path / "b", tmp_path / "b") is not None
