"""Files of a configuration: what is printed is what is read, and the command line goes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from moir.parameters import parameters
from moir.tools.batch.manifest import OWN_KEYS
from moir.tools.configuration import OF_A_RUN, OF_ONE_MODEL
from moir.tools.convert import argument_parser, main
from tests.unit.small_models import matmul_model, save


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main([*arguments, "--print-config"]) == 0
    return capsys.readouterr().out


def test_what_is_printed_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    given = [
        *("--input", "x[1..4,8]{f16},'a \"b\" \\c'->[1,2]", "--output", "y,0:z", "--static_shape", "-n", "nét\t1"),
        *("--data_type", "FP16", "--layout-change", "none", "--disable", "fuse-gelu,fuse-mvn", "--extensions", "a,b", "--signature", "s"),
    ]
    text = printed(capsys, *given)
    assert text.splitlines() == [
        'input = ["x[1..4,8]{f16}", "\'a \\"b\\" \\\\c\'->[1,2]"]',
        'output = ["y", "0:z"]',
        "static_shape = true",
        'model_name = "nét\\U000000091"',
        "compress_to_fp16 = true",
        'layout_change = "none"',
        'signature = "s"',
        'extensions = ["a", "b"]',
        'disable = ["fuse-gelu", "fuse-mvn"]',
    ]
    Path("c.toml").write_text(text, encoding="utf-8")
    assert printed(capsys, "--config", "c.toml") == text
    assert printed(capsys) == ""


def test_the_command_line_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text('compress-to-fp16 = true\nbatch = 3\nlayout-change = "none"\n')
    assert printed(capsys, "--config=c.toml", "-b", "5") == 'batch = 5\ncompress_to_fp16 = true\nlayout_change = "none"\n'
    assert printed(capsys, "--config=c.toml", "--compress_to_fp16=False", "--layout-change=auto") == "batch = 3\n"
    Path("c.toml").write_text('input_shape = [[1, "?"], []]\n')
    assert printed(capsys, "--config=c.toml") == 'input_shape = ["[1,?]", "[]"]\n'


def test_a_conversion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(matmul_model(), Path("m.onnx"))
    Path("c.toml").write_text('input = [[4, 8]]\nmodel-name = "net"\n')
    assert main(["m.onnx", "--config", "c.toml", "--silent"]) == 0
    xml = Path("net.xml").read_text()
    assert 'shape="4,8"' in xml
    assert '<input value="[4,8]"/>' in xml
    assert main(["m.onnx", "--config", "c.toml", "--input", "x[6,8]", "--silent"]) == 0
    assert 'shape="6,8"' in Path("net.xml").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("batch = 'x'", "c.toml: batch must be a whole number from 1 on, not 'x'"),
        ("input = 'x['", "c.toml: input must be inputs: "),
        ("compress_to_fp16 = 1", "c.toml: compress_to_fp16 must be True or False, not 1"),
        ("layout_change = 'non'", "did you mean none?"),
        ("batsh = 1", "c.toml: there is no key 'batsh'; did you mean batch?"),
        ("jobs = 2", "c.toml: there is no key 'jobs'; --jobs is an option of the whole run; give it on the command line"),
        ("dump-ir = 'd'", "c.toml: there is no key 'dump-ir'; --dump-ir is an option of the command line, for one model"),
        ("input_model = 'm.onnx'", "c.toml: there is no key 'input_model'; keys are the names of options"),
        ("batch", "c.toml: it is not TOML: "),
        ("batch = 2\ninput_shape = [1, 2]", "input_shape and batch exclude each other"),
    ],
)
def test_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text(text)
    assert main(["--config", "c.toml", "--print-config"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (".".join(["a"] * 10_000) + " = 1", "it has a key of more than 32 parts"),
        ("[" + " . ".join(["a"] * 40) + "]", "it has a key of more than 32 parts"),
        ("x = {" + ".".join(['"a"'] * 40) + " = 1}", "it has a key of more than 32 parts"),
        ("x = " + "[" * 100_000, "lists and tables are nested too deeply"),
        ("x = 1\n" + "#" * (1 << 20), "larger than 1 MiB; is it a configuration in TOML?"),
        ("x = \xff", "it is not TOML"),
    ],
)
def test_what_would_take_much_memory_is_refused(tmp_path: Path, content: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.toml").write_bytes(content.encode("latin-1"))
    assert main(["m.onnx", "--config", f"{tmp_path}/c.toml"]) == 2
    assert reason in capsys.readouterr().err


def test_a_text_with_many_dots_is_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = ".".join(["layer"] * 50)
    (tmp_path / "c.toml").write_text(f'output = "{name}"\n')
    assert printed(capsys, "--config", f"{tmp_path}/c.toml") == f'output = ["{name}"]\n'


@pytest.mark.parametrize("option", ["--config", "--transformations_config"])
def test_a_device_has_no_end(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(matmul_model(), tmp_path / "m.onnx")
    assert main([f"{tmp_path}/m.onnx", "-o", str(tmp_path / "o.xml"), option, "/dev/zero"]) != 0
    assert "/dev/zero: larger than 1 MiB; is it a configuration" in capsys.readouterr().err


def test_the_options_of_the_command_line_that_are_no_keys_are_known() -> None:
    """All but other spellings, and those that convert nothing."""
    keys = {*OWN_KEYS, *(each.name for each in parameters())}
    options = {name[2:].replace("-", "_") for name in argument_parser()._option_string_actions if name.startswith("--")}
    others = {"help", "version", "completion", "no_tokenizers", "saved_model_tags", "tensorflow_custom_operations_config_update"}
    assert options - keys - others == OF_A_RUN | OF_ONE_MODEL
