"""The folder that becomes of a file in GGUF."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import moir
from moir.inspection.records import Inspection
from moir.language_models.gguf import companions_of_file
from moir.tools.convert import main
from tests.unit.frontends.gguf.written_files import metadata, write_file

CONFIGURATIONS = {"config.json", "generation_config.json"}
IRS = {f"openvino_{name}.{suffix}" for name in ("model", "tokenizer", "detokenizer") for suffix in ("xml", "bin")}


def test_the_folder_has_all_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_file(Path("tiny.gguf"), metadata() | {"tokenizer.chat_template": "{{ messages }}"})
    assert main(["tiny.gguf", "--silent"]) == 0
    assert {each.name for each in Path("tiny-openvino").iterdir()} == CONFIGURATIONS | IRS | {"chat_template.jinja"}
    assert Path("tiny-openvino/chat_template.jinja").read_text() == "{{ messages }}"
    assert main(["tiny.gguf", "-o", "network.xml", "--silent"]) == 0
    assert not Path("config.json").exists()


def contents(path: Path, values: dict[str, object]) -> dict[str, dict[str, object]]:
    """The configurations beside the IR of a file with further metadata, by their names."""
    write_file(path / "m.gguf", metadata() | values)
    companions = companions_of_file(path / "m.gguf", has_tokenizer=False)
    assert not companions.models
    assert not companions.copies
    return {name: json.loads(content) for name, content in companions.contents.items()}


def test_the_configuration_is_that_of_a_folder(tmp_path: Path) -> None:
    actual = contents(tmp_path, {})["config.json"]
    assert (actual["model_type"], actual["hidden_size"], actual["bos_token_id"], actual["eos_token_id"]) == ("llama", 8, 0, 1)
    assert moir.convert_model(tmp_path / "m.gguf") is not None


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, {"bos_token_id": 0, "eos_token_id": 1}),
        ({"tokenizer.ggml.eot_token_id": 4, "tokenizer.ggml.eom_token_id": 4}, {"bos_token_id": 0, "eos_token_id": [1, 4]}),
        ({"tokenizer.ggml.padding_token_id": (1 << 32) - 1}, {"bos_token_id": 0, "eos_token_id": 1}),
        (
            {"tokenizer.ggml.tokens": ["<s>", "</s>", "<|im_end|>", "<|eot_id|>", "b", "c"],
             "tokenizer.ggml.token_type": [3, 3, 3, 1, 1, 1]},
            {"bos_token_id": 0, "eos_token_id": [1, 2]},
        ),
        (
            {"tokenizer.ggml.tokens": ["<s>", "<|return|>", "<|end|>", "<|call|>", "b", "c"],
             "tokenizer.ggml.token_type": [3, 3, 3, 3, 1, 1]},
            {"bos_token_id": 0, "eos_token_id": [1, 3]},
        ),
        (
            {"general.sampling.temp": 0.5, "general.sampling.top_k": 20},
            {"bos_token_id": 0, "eos_token_id": 1, "do_sample": True, "temperature": 0.5, "top_k": 20},
        ),
    ],
)  # fmt: skip
def test_what_ends_a_text(tmp_path: Path, values: dict[str, object], expected: dict[str, object]) -> None:
    assert contents(tmp_path, values)["generation_config.json"] == expected


def test_nothing_stands_in_the_way(tmp_path: Path) -> None:
    write_file(tmp_path / "m.gguf")
    actual = moir.inspect(tmp_path / "m.gguf")
    assert isinstance(actual, Inspection)
    assert actual.format == "GGUF"
    assert not actual.obstacles
