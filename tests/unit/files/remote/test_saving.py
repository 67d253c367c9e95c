"""`moir.save_model` and `moir.save_onnx` with addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

import moir
from moir.errors import EmissionError, UsageError
from tests.unit.files.remote.conftest import Bucket
from tests.unit.small_models import matmul_model, save


def test_an_ir(bucket: Bucket) -> None:
    module = moir.convert_model(save(matmul_model(), Path("a.onnx")))
    written = moir.save_model(module, "s3://models/ir/a.xml")
    here = moir.save_model(module, "a.xml")
    assert bucket.stored() == ["ir/a.bin", "ir/a.xml"]
    assert [bucket.get("ir/a.xml"), bucket.get("ir/a.bin")] == [each.read_bytes() for each in here.files]
    assert (written.address, written.files) == ("s3://models/ir/a.xml", [Path("a.xml"), Path("a.bin")])
    assert (here.address, written.weights_bytes) == ("", here.weights_bytes)


def test_an_onnx_model(bucket: Bucket) -> None:
    module = moir.convert_model(save(matmul_model(), Path("a.onnx")), target="none")
    written = moir.save_onnx(module, "s3://models/a.onnx")
    moir.save_onnx(module, "here.onnx")
    assert bucket.get("a.onnx") == Path("here.onnx").read_bytes()
    assert (written.address, written.files) == ("s3://models/a.onnx", [Path("a.onnx")])


def test_a_model_is_replaced_by_its_own_ir(bucket: Bucket) -> None:
    moir.save_model(moir.convert_model(save(matmul_model(), Path("a.onnx"))), "s3://models/a.xml")
    weights = bucket.get("a.bin")
    moir.save_model(moir.convert_model("s3://models/a.xml"), "s3://models/a.xml", compress_to_fp16=True)
    assert len(bucket.get("a.bin")) == len(weights) // 2


def test_what_cannot_be_written(bucket: Bucket) -> None:
    module = moir.convert_model(save(matmul_model(), Path("a.onnx")))
    with pytest.raises(UsageError, match=r"^s3://models/a.txt: the name of the file to write must end in .xml; did you mean s3://models/a"):
        moir.save_model(module, "s3://models/a.txt")
    with pytest.raises(UsageError, match=r"^s3://models/a: the name of the file to write must end in .onnx"):
        moir.save_onnx(module, "s3://models/a")
    with pytest.raises(UsageError, match=r"^https://host/a.xml: a server of the web is only read"):
        moir.save_model(module, "https://host/a.xml?secret")
    bucket.put("a.xml", b"<html>")
    with pytest.raises(EmissionError, match=r"^s3://models/a.xml: the file would be overwritten, but it is not an OpenVINO IR"):
        moir.save_model(module, "s3://models/a.xml")
    assert bucket.stored() == ["a.xml"]
