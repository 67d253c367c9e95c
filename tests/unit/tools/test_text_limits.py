"""Texts of modules that are small and cost much: each ends in one line that says where and what."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from moir.dialects.context import MoirContext
from moir.errors import ModelFileError
from moir.tools.opt import main
from moir.tools.optimizer import text_limits
from moir.tools.optimizer.text import TextParser
from moir.tools.optimizer.text_limits import LONGEST_STRING, MOST_NESTED, read_text_file

DEEP = 20_000
TWICE = "".join(f"!a{index} = tuple<!a{index - 1}, !a{index - 1}>\n" for index in range(1, 61))
LISTS = "".join(f"#a{index} = [#a{index - 1}, #a{index - 1}]\n" for index in range(1, 61))
CHAIN = "".join(f"!a{index} = tuple<!a{index - 1}>\n" for index in range(1, 2000))


def module_with(attribute: str) -> str:
    return f"module attributes {{a = {attribute}}} {{}}"


TEXTS = {
    "lists": (module_with("[" * DEEP + "]" * DEEP), "1:223: the text is nested too deeply"),
    "dictionaries": (module_with("{a = " * DEEP + "1" + "}" * DEEP), "the text is nested too deeply"),
    "types": ('"t.f"() : () -> ' + "complex<" * DEEP + "f32" + ">" * DEEP, "the text is nested too deeply"),
    "function types": ('"t.f"() : () -> ' + "(() -> " * DEEP + "i32" + ")" * DEEP, "the text is nested too deeply"),
    "regions": ('"t.f"() ({\n' * DEEP + "}) : () -> ()\n" * DEEP, "the text is nested too deeply"),
    "locations": ("module {} loc(" + "fused[" * DEEP + "unknown" + "]" * DEEP + ")", "the text is nested too deeply"),
    "affine expressions": ("#m = affine_map<(d0) -> (" + "(" * DEEP + "d0" + ")" * DEEP + ")>\nmodule {}", "the text is nested too deeply"),
    "signs": ("#m = affine_map<(d0) -> (" + "-" * DEEP + "d0)>\nmodule {}", "nested too deeply"),
    "aliases of types": ("!a0 = tuple<i32, i32>\n" + TWICE + '"t.f"() : () -> !a60', "the aliases up to !a15 stand for more than"),
    "aliases of attributes": ("#a0 = [1, 2]\n" + LISTS + module_with("#a60"), "stand for more than 1,000,000 attributes"),
    "a chain of aliases": ("!a0 = i32\n" + CHAIN + '"t.f"() : () -> !a1999', f"more than {MOST_NESTED} attributes are inside each other"),
    "an unclosed string": (module_with('"' + "x" * 2_000_000), "1:24: a string does not end in its line"),
    "unclosed escapes": (module_with('"' + r"\n" * 1_000_000), "a string does not end in its line"),
    "a quotation mark": (module_with('"'), "a string does not end in its line"),
    "a long string": (module_with('"' + "x" * LONGEST_STRING + '"'), "a string is longer than 1,048,576 characters"),
    "a splat": ('"t.c"() {v = dense<1> : tensor<1099511627776xi32>} : () -> ()', "more than 4,194,304 elements in 'dense' constants"),
    "splats": (module_with("[dense<1> : tensor<1000xi8>, dense<1> : tensor<4194000xi8>]"), "elements in 'dense' constants"),
    "an integer": (module_with("9" * 1_000_000), "1:24: a number has more than 1000 digits"),
    "a hexadecimal number": (module_with("0x" + "f" * 100_000 + " : i32"), "a number has more than 1000 digits"),
    "a dimension": ('"t.f"() : () -> tensor<' + "9" * 100_000 + "xf32>", "a number has more than 1000 digits"),
    "the width of a type": (module_with("1 : i" + "9" * 10_000), "has a value that is not valid: Exceeds the limit"),
    "a rank": ('"t.f"() : () -> tensor<' + "1x" * 100_000 + "f32>", "a type has more than 64 dimensions"),
    "bits of a float": (module_with("0xFFFFFFFFFFFFFFFFFF : f64"), "a.mlir:1:"),
    "an affine division": ("#m = affine_map<() -> (1 floordiv 0)>\nmodule {}", "has a value that is not valid"),
    "an exponent": (module_with("1.0e400 : f16"), ""),
    "tokens": (module_with("[" + "1, " * 600_000 + "1]"), "the text has more than 1,000,000 tokens"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_beyond_a_limit_is_refused_in_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, reason = TEXTS[name]
    (tmp_path / "a.mlir").write_text(text)
    status = main([str(tmp_path / "a.mlir"), "--allow-unregistered-dialect"])
    printed = capsys.readouterr().err
    assert (status, printed.count("\n")) == ((1, 1) if reason else (0, 0))
    assert reason in printed
    assert "internal error" not in printed


def test_what_large_texts_have_is_within_the_limits() -> None:
    nested = "[" * 60 + "1" + "]" * 60
    names = "".join(f'#loc{index} = loc("node {index}")\n' for index in range(300))
    text = f'{names}module attributes {{a = {nested}, b = "{"x" * 100_000}", c = dense<0.0> : tensor<1000x1000xf32>}} {{}}'
    module = TextParser(MoirContext(), text).parse_module()
    assert set(module.attributes) == {"a", "b", "c"}


def test_arrows_and_comments_close_no_brackets() -> None:
    text = '// {{{{ a " that is not closed\n' * 300 + '"t.f"() {a = () -> (), b = affine_set<(d0) : (d0 >= 0)>} : () -> ()\n' * 300
    module = TextParser(MoirContext(allow_unregistered=True), text).parse_module()
    assert len(module.body.block.ops) == 300


def test_a_long_text_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_limits, "MOST_BYTES", 1 << 20)
    stream = io.BytesIO(b" " * (3 << 20))
    with pytest.raises(ModelFileError, match="the text is longer than 1 MB"):
        read_text_file(stream, "a.mlir")
    assert stream.tell() == (1 << 20) + 1
