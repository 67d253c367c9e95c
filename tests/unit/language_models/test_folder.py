"""The folder that becomes of a language model, from the command line."""

from __future__ import annotations

import io
import json
import os
import sys
import tarfile
from pathlib import Path

import pytest

import moir
from moir.emit import files as files_module
from moir.errors import ModelFileError
from moir.language_models import folder as folder_module
from moir.tools.convert import main
from tests.unit.language_models.folders import write_folder

NETWORK = {"openvino_model.xml", "openvino_model.bin"}
CONFIGURATIONS = {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"}
TOKENIZER = {f"openvino_{name}.{suffix}" for name in ("tokenizer", "detokenizer") for suffix in ("xml", "bin")}


def names(folder: Path) -> set[str]:
    """The names of everything in a folder."""
    return {each.name for each in folder.iterdir()}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of a model; the current folder is the one that it is in."""
    monkeypatch.chdir(tmp_path)
    return write_folder(tmp_path / "tiny-0.1")


def test_the_folder_has_all_files(model: Path) -> None:
    assert main([str(model), "-o", "out", "--silent"]) == 0
    assert names(Path("out")) == NETWORK | CONFIGURATIONS | TOKENIZER


def test_the_default_folder_is_named_like_the_model(model: Path) -> None:
    assert main([str(model), "--silent", "--no-tokenizer"]) == 0
    assert names(Path("tiny-0.1-openvino")) == NETWORK | CONFIGURATIONS


def test_special_tokens_of_the_language_model_of_a_multimodal_one(model: Path) -> None:
    inner = json.loads((model / "config.json").read_text())
    outer = {"model_type": "llava", "architectures": ["Llava"], "bos_token_id": 2, "text_config": inner}
    (model / "config.json").write_text(json.dumps(outer))
    assert main([str(model), "-o", "out", "--silent"]) == 0
    assert json.loads(Path("out/generation_config.json").read_text()) == {"bos_token_id": 2, "eos_token_id": 1}


def test_a_tokenizer_has_no_output_that_the_network_does_not_take(model: Path) -> None:
    path = model / "tokenizer_config.json"
    settings = {**json.loads(path.read_text()), "model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    path.write_text(json.dumps(settings))
    assert main([str(model), "-o", "out", "--silent"]) == 0
    tokenizer = Path("out/openvino_tokenizer.xml").read_text()
    assert tokenizer.count('type="Result"') == 2
    assert "token_type_ids" not in tokenizer
    assert tokenizer.count('type="RaggedToDense"') == 1


def test_a_path_writes_the_network_only(model: Path) -> None:
    assert main([str(model), "-o", "out/net.xml", "--silent"]) == 0
    assert names(Path("out")) == {"net.xml", "net.bin"}


def test_a_file_of_someone_else_is_not_overwritten(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("out").mkdir()
    Path("out/config.json").write_text("{}")
    assert main([str(model), "-o", "out", "--silent"]) != 0
    assert "is not of an earlier conversion" in capsys.readouterr().err
    assert names(Path("out")) == {"config.json"}
    assert Path("out/config.json").read_text() == "{}"


@pytest.mark.parametrize("is_new", [True, False])
def test_an_error_leaves_everything_as_it_was(model: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool) -> None:
    if not is_new:
        assert main([str(model), "-o", "out", "--silent"]) == 0
        (model / "generation_config.json").write_text('{"eos_token_id": 1}')
    before = {} if is_new else {each.name: each.read_bytes() for each in Path("out").iterdir()}

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module, "write_model", refuse)
    assert main([str(model), "-o", "out", "--silent"]) != 0
    assert Path("out").exists() != is_new
    assert is_new or {each.name: each.read_bytes() for each in Path("out").iterdir()} == before


@pytest.mark.parametrize("is_new", [True, False])
def test_a_file_that_cannot_be_moved_leaves_everything_as_it_was(model: Path, monkeypatch: pytest.MonkeyPatch, is_new: bool) -> None:
    """The configurations have moved before the tokenizer fails."""
    if not is_new:
        assert main([str(model), "-o", "out", "--silent"]) == 0
        (model / "generation_config.json").write_text('{"eos_token_id": 1}')
    before = {} if is_new else {each.name: each.read_bytes() for each in Path("out").iterdir()}
    replace = os.replace

    def refuse(source: Path, target: Path) -> None:
        if Path(target).name == "openvino_tokenizer.xml" and Path(target).parent.name == "out":
            raise OSError(5, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(folder_module.os, "replace", refuse)
    assert main([str(model), "-o", "out", "--silent"]) != 0
    assert Path("out").exists() != is_new
    assert is_new or {each.name: each.read_bytes() for each in Path("out").iterdir()} == before


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_an_ir_that_cannot_be_moved_leaves_everything_as_it_was(model: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """All files beside the IR have moved before."""
    assert main([str(model), "-o", "out", "--silent"]) == 0
    (model / "generation_config.json").write_text('{"eos_token_id": 1}')
    before = {each.name: each.read_bytes() for each in Path("out").iterdir()}

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(files_module, "exchange", refuse)
    assert main([str(model), "-o", "out", "--silent"]) != 0
    assert {each.name: each.read_bytes() for each in Path("out").iterdir()} == before


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_file_of_the_folder_names_the_folder(model: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main([str(model / name), "-o", "out", "--silent"]) != 0
    assert f"this is one file of a model in a folder; give the folder: {model}" in capsys.readouterr().err


def test_standard_output_gets_an_archive_of_all_files(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    assert main([str(model), "-o", "-", "--silent"]) == 0
    sys.stdout.flush()
    with tarfile.open(fileobj=io.BytesIO(written.getvalue())) as archive:
        assert {Path(each).name for each in archive.getnames()} == NETWORK | CONFIGURATIONS | TOKENIZER


def test_older_files_that_are_read_have_a_note(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(model), "-o", "out"]) == 0
    assert "older files" not in capsys.readouterr().out
    Path("out/chat_template.jinja").write_text("{{ messages }}")
    assert main([str(model), "-o", "out", "--no-tokenizers"]) == 0
    printed = "".join(capsys.readouterr())
    assert "older files of the folder, too: openvino_tokenizer.xml, openvino_detokenizer.xml, chat_template.jinja; remove" in printed
    assert names(Path("out")) == NETWORK | CONFIGURATIONS | TOKENIZER | {"chat_template.jinja"}


def test_a_folder_needs_no_generation(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(model), "--generation", "-o", "out", "--silent"]) != 0
    assert "the model keeps its cache in variables already; leave out --generation" in capsys.readouterr().err
    assert not Path("out").exists()


def test_a_cache_is_ignored(model: Path) -> None:
    assert main([str(model), "-o", "out", "--cache", "cache", "--silent"]) == 0
    assert names(Path("out")) == NETWORK | CONFIGURATIONS | TOKENIZER


def test_the_python_interface_converts_the_network(model: Path) -> None:
    moir.save_model(moir.convert_model(model), "net.xml")
    assert Path("net.xml").exists()
    assert Path("net.bin").exists()


@pytest.mark.parametrize("key", ["quantization_config", "compression_config"])
def test_quantized_weights_are_refused(tmp_path: Path, key: str) -> None:
    folder = write_folder(tmp_path / "m", **{key: {"quant_method": "spqr"}})
    with pytest.raises(ModelFileError, match="the quantization 'spqr' is not supported"):
        moir.convert_model(folder)


def test_several_models_get_folders_of_their_own(model: Path) -> None:
    write_folder(Path("other"))
    assert main([str(model), "other", "-o", "out", "--silent"]) == 0
    assert names(Path("out/tiny-0.1")) == names(Path("out/other")) == NETWORK | CONFIGURATIONS | TOKENIZER
