"""Files that are found through a model are in its folder: links, hard links and swapped files are not followed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from moir import convert_model, save_model
from moir.errors import ModelFileError
from moir.files.reading import ModelFolder, map_file

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


MODELS = {"ir": _ir, "caffe": _caffe, "caffe-text": _caffe_text, "mxnet": _mxnet}


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
