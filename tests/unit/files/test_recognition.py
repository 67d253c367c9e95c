"""Model files are recognized by their content, and other files get their own next step."""

from __future__ import annotations

import io
import shutil
import struct
import zipfile
from pathlib import Path

import pytest

from moir import read_model
from moir.errors import ModelFileError
from moir.files.recognition import framework_of_file
from tests.unit.small_models import matmul_model, save

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tensorflow"


def zipped(*names: str) -> bytes:
    """A zip archive with empty files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return content.getvalue()


@pytest.mark.parametrize("name", ["model.onnx", "model.pb", "model.txt", "model.pt", "model", "model.xml"])
def test_an_onnx_model_has_any_name(tmp_path: Path, name: str) -> None:
    save(matmul_model(), tmp_path / name)
    assert framework_of_file(tmp_path / name).dialect == "onnx"
    assert [op.name for op in read_model(tmp_path / name).walk()][-2] == "onnx.MatMul"


@pytest.mark.parametrize("name", ["model.onnx", "model", "model.meta", "model.pbtxt", "model.bin"])
@pytest.mark.parametrize("source", ["saved_model_v1/saved_model.pb", "checkpoint/model.meta", "checkpoint/inference.pbtxt"])
def test_a_tensorflow_model_has_any_name(tmp_path: Path, source: str, name: str) -> None:
    folder = tmp_path / "copy"
    shutil.copytree((FIXTURES / source).parent, folder)
    renamed = (folder / Path(source).name).rename(folder / name)
    assert framework_of_file(renamed).dialect == "tf"
    options = {"checkpoint": folder / "model"} if "checkpoint" in source else {"signature": "dense"}
    assert any(op.name.startswith("tf.") for op in read_model(renamed, **options).walk())


def test_the_beginning_of_the_names_of_a_checkpoint_is_a_model() -> None:
    module = read_model(FIXTURES / "checkpoint" / "model")
    assert str(module) == str(read_model(FIXTURES / "checkpoint" / "model.meta"))


SAFETENSORS = struct.pack("<Q", 60) + b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}      '


@pytest.mark.parametrize(
    ("content", "framework"),
    [
        (zipped("metadata.json", "config.json", "model.weights.h5"), "keras"),
        (zipped("assets/lookup/vocabulary.txt", "config.json"), "keras"),
        (b"\x89HDF\r\n\x1a\n" + bytes(80), "keras"),
        (b"module @jit_f {\n  func.func public @main(", "stablehlo"),
        (b"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {", "stablehlo"),
        (b'"builtin.module"() <{sym_name = "f"}> ({\n  "func.func"() <{', "stablehlo"),
        (b'#loc1 = loc("x")\n', "stablehlo"),
        (b"ML\xefR\x0dStableHLO_v1.15.0\0", "stablehlo"),
        (b"\x3c\0\0\0\x38\0\x64\0\x62\0" + bytes(60), "stablehlo"),
        (b"GGUF\x03\0\0\0", "gguf"),
    ],
)
def test_files_of_these_frameworks_have_any_name(tmp_path: Path, content: bytes, framework: str) -> None:
    (tmp_path / "model.bin").write_bytes(content)
    assert framework_of_file(tmp_path / "model.bin").dialect == framework


CAFFE_FILES = {
    "binary": b"\x0a\x07AlexNet\xa2\x06\x10\x0a\x04data",
    "binary without a name": b"\xa2\x06\x10\x0a\x04data",
    "old layers": b"\x0a\x04Caff\x12\x80\x02\x22\x05conv1",
    "inputs": b"\x0a\x05LeNet\x1a\x04data\x20\x01",
    "text": b'name: "net"\nlayer {\n  name: "data"\n}\n',
    "text with comments": b'# the network\nname: "net" # of 2015\n# its inputs\ninput: "data"\n',
    "text of layers": b"layers {\n  type: DATA\n}\n",
}


@pytest.mark.parametrize("content", [b'{\n  "nodes": [\n', b"\x12\x01" + bytes(30)])
def test_mxnet_models_are_recognized_by_their_content(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.json").write_bytes(content)
    assert framework_of_file(tmp_path / "m.json").dialect == "mxnet"


@pytest.mark.parametrize("name", ["m.tflite", "m.pb"])
def test_tensorflow_lite_models_are_recognized_by_their_content(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x20\0\0\0TFL3" + bytes(40))
    assert framework_of_file(tmp_path / name).dialect == "tflite"


@pytest.mark.parametrize("kind", CAFFE_FILES)
def test_caffe_models_are_recognized_by_their_content(tmp_path: Path, kind: str) -> None:
    (tmp_path / "m.pb").write_bytes(CAFFE_FILES[kind])
    assert framework_of_file(tmp_path / "m.pb").dialect == "caffe"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.pt", zipped("m/data.pkl", "m/version"), "a PyTorch checkpoint; load the model in PyTorch and export it: torch.export.save("),
        ("m.pth", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", "a PyTorch checkpoint; "),
        ("m.pth", b"\x80\x04\x95", "a Python pickle, perhaps a PyTorch checkpoint; "),
        ("m.bin", zipped("archive/data.pkl"), "a PyTorch checkpoint; "),
        ("m.safetensors", SAFETENSORS, "a safetensors file, weights without a graph; give the folder of a language model"),
        ("m.pdiparams", bytes(64), "the parameters of a PaddlePaddle model, values without a graph; give the program"),
        ("m.pdparams", b"\x80\x04\x95", "the state of a PaddlePaddle network, values without a graph; build the network"),
        ("m.xml", b"<!DOCTYPE net><net/>", "an XML document, but no OpenVINO IR; give a model"),
        ("a.xml", b"<annotation>", "an XML document, but no OpenVINO IR; give a model"),
        ("002-lower-onnx.mlir", b"builtin.module {\n", "the text of a module, as --dump-ir writes it; go on with moir-opt "),
        ("m.py", b"import torch\n", "a Python program; run it, and export the model"),
        ("model.ckpt.index", b"\0\0\x14\x08\x01\x1a\x02", "a part of a TensorFlow checkpoint, values without a graph; give the graph"),
        ("checkpoint", b'model_checkpoint_path: "m"\n', "the list of checkpoints of a folder; "),
        ("m.mlmodel", b"\x08\x04\x12\x80\x01\x0a\x10", "a Core ML model; "),
        ("m.ort", b"\x20\0\0\0ORTM", "an ORT-format model of ONNX Runtime; give"),
        (
            "m.onnx",
            b"version https://git-lfs.github.com/spec/v1\noid",
            "a pointer of Git LFS; the file itself was not",
        ),
        ("m.onnx", b"<!DOCTYPE html><html>", "an HTML page; the download failed"),
        ("m.pte", b"\x30\0\0\0ET12", "a program of ExecuTorch; save the program that it was made from"),
        ("m.ptd", b"\x30\0\0\0FT01", "the weights of a program of ExecuTorch; "),
        ("m.pt", zipped("m/data/0", "m/code/__torch__.py", "m/constants.pkl"), "a TorchScript program; export the module"),
        ("m.pt", zipped("m/data.pkl", "m/code/__torch__.py", "m/constants.pkl"), "a TorchScript program; export the module"),
        ("m.zip", zipped("m.mlpackage/Data/com.apple.CoreML/model.mlmodel"), "a Core ML package; convert the PyTorch module"),
        (
            "hand.task",
            zipped("hand_detector.tflite", "hand_landmarks.tflite"),
            "a bundle of MediaPipe; unpack it, and give the model in it: hand_detector.tflite or hand_landmarks.tflite (python -m zipfile",
        ),
        ("llm.task", zipped("METADATA", "TF_LITE_PREFILL_DECODE", "TOKENIZER_MODEL"), "a bundle of MediaPipe; unpack it"),
        ("yolo.cfg", b"# YOLO\n[net]\nbatch=1\n", "a Darknet configuration; convert the .cfg with its .weights to ONNX"),
        ("yolo.weights", struct.pack("<3iq", 0, 2, 5, 32013312), "the weights of a Darknet network; convert the .cfg"),
        ("m.param", b"7767517\n3 3\nInput data 0 1 data\n", "an ncnn network; give the ONNX file or the PyTorch module"),
        ("m.param.bin", struct.pack("<i", 7767517), "an ncnn network; "),
        ("m.bin", struct.pack("<i", 0x01306B47), "the weights of an ncnn network; "),
        ("m.zip", zipped("model.onnx"), "a zip archive; unpack it, and give the model in it: model.onnx (python -m zipfile"),
        (
            "m.zip",
            zipped("a{0}.onnx", *(f"{index}.onnx" for index in range(5))),
            "a zip archive; unpack it, and give the model in it: a{0}.onnx",
        ),
        ("m.zip", zipped("readme.txt"), "a zip archive; unpack it"),
        ("m.onnx.gz", b"\x1f\x8b\x08", "a compressed file; unpack it"),
        ("m.npz", zipped("a.npy"), "an array of numpy; give a model"),
        ("m.onnxtxt", b"ir_version: 9\n", "an ONNX model as text; onnx.save("),
        ("m.dat", bytes(64), "a file of zeros; "),
    ],
)
def test_other_files_get_their_own_next_step(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        framework_of_file(tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: this is {message}")


@pytest.mark.parametrize(
    ("file", "kind"), [("Data/com.apple.CoreML/model.mlmodel", "a Core ML package"), ("coremldata.bin", "a compiled Core ML model")]
)
def test_folders_of_core_ml(tmp_path: Path, file: str, kind: str) -> None:
    (tmp_path / "m.mlpackage" / file).parent.mkdir(parents=True)
    (tmp_path / "m.mlpackage" / file).write_bytes(b"")
    with pytest.raises(ModelFileError, match=f"this is {kind}; convert the PyTorch module or the Keras model"):
        framework_of_file(tmp_path / "m.mlpackage")


def test_what_nothing_is_known_about(tmp_path: Path) -> None:
    (tmp_path / "m.dat").write_bytes(b"\x99\x98\x97")
    titles = "ONNX, TensorFlow, Caffe, MXNet, TensorFlow Lite, Keras, StableHLO, PyTorch, PaddlePaddle, "
    titles += "Hugging Face Transformers, GGUF and OpenVINO IR"
    with pytest.raises(ModelFileError, match=f"no frontend knows this kind of file; moir reads models of {titles}"):
        framework_of_file(tmp_path / "m.dat")


@pytest.mark.parametrize(
    ("files", "path", "hint"),
    [
        (("model.onnx",), "", r"did you mean \S+/model\.onnx\?"),
        (("saved_model/saved_model.pb",), "", r"did you mean \S+/saved_model\?"),
        (("onnx/model.onnx", "onnx/model_int8.onnx"), "", r"did you mean \S+/onnx/model\.onnx or \S+/onnx/model_int8\.onnx\?"),
        (("readme.txt",), "", "give a model file, or the folder of a SavedModel"),
        (("model.onnx", "other.txt"), "model", r"did you mean .*model\.onnx\?"),
        (("model.onnx",), "modle.onnx", r"did you mean .*model\.onnx\?"),
        (("model.ckpt.meta.txt",), "absent/model.onnx", r"there is no folder \S+/absent"),
    ],
)
def test_folders_and_files_that_are_not_there(tmp_path: Path, files: tuple[str, ...], path: str, hint: str) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(ModelFileError, match=hint):
        framework_of_file(tmp_path / path)
