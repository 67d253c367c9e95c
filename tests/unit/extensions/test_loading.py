"""Loading the directories of extensions: the definitions that are found, errors in files, and that nothing remains
afterwards.
"""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from textwrap import dedent

import pytest

from moir.dialects import opset
from moir.errors import ConversionError
from moir.extensions.environment import Choice
from moir.extensions.loading import Extensions
from moir.extensions.native import kebab_case
from moir.lowering.onnx.table import onnx
from moir.pipeline import pipeline_names
from tests.unit.extensions.directories import write

PASS = """
    from xdsl.passes import ModulePass

    class {name}(ModulePass):
        {attributes}

        def apply(self, ctx, op):
            pass
"""


def a_pass(name: str, attributes: str = "") -> str:
    return PASS.format(name=name, attributes=attributes)


def loaded(*directories: Path, framework: str | None = "onnx") -> list[str]:
    """Names of the transformations of directories."""
    with Extensions.load(directories, framework, [onnx]) as extensions:
        return [each.name for each in extensions.transformations]


def order(*directories: Path, framework: str = "onnx") -> list[str]:
    """The pipeline with the transformations of directories."""
    with Extensions.load(directories, framework, [onnx]) as extensions:
        return [each.name for each in extensions.passes(pipeline_names(framework), framework)]


def test_directories(tmp_path: Path) -> None:
    write(
        tmp_path,
        front__a=a_pass("InFront"),
        front_onnx__a=a_pass("InOnnx"),
        front_onnx_extractors__a=a_pass("InExtractors"),
        front_tf__a=a_pass("InTf"),
        front_other__a="raise RuntimeError",
        middle__a=a_pass("InMiddle"),
        back__a=a_pass("InBack"),
        tests__a="raise RuntimeError",
    )
    (tmp_path / "middle" / "notes.txt").write_text("no Python")
    assert loaded(tmp_path) == ["in-front", "in-onnx", "in-extractors", "in-middle", "in-back"]
    assert loaded(tmp_path, framework="tf") == ["in-front", "in-tf", "in-middle", "in-back"]
    assert loaded(tmp_path, framework=None) == ["in-front", "in-onnx", "in-extractors", "in-tf", "in-middle", "in-back"]
    names = order(tmp_path)
    assert names[0:4] == ["front-start", "in-extractors", "in-front", "in-onnx"]
    assert names[names.index("middle-start") + 1] == "in-middle"
    assert names[names.index("back-start") + 1] == "in-back"


def test_tests_of_extensions_are_not_loaded(tmp_path: Path) -> None:
    write(tmp_path, middle__a=a_pass("InMiddle"), middle__a_test="raise RuntimeError", ops__b_test="raise RuntimeError")
    write(tmp_path, front_onnx__c_test="raise RuntimeError")
    assert loaded(tmp_path) == ["in-middle"]


def test_files_of_one_name_in_two_directories(tmp_path: Path) -> None:
    first = write(tmp_path / "a" / "ext", middle__mine=a_pass("First", "from_helper = __import__('ext.ops.helper').ops.helper.VALUE"))
    write(first, ops__helper="VALUE = 1")
    second = write(tmp_path / "b" / "ext", middle__mine=a_pass("Second", "from_helper = __import__('ext.ops.helper').ops.helper.VALUE"))
    write(second, ops__helper="VALUE = 2")
    with Extensions.load([first, second], "onnx") as extensions:
        assert {each.name: each.source.from_helper for each in extensions.transformations} == {"first": 1, "second": 2}


def test_nothing_is_left_in_sys_modules_and_nothing_is_disturbed(tmp_path: Path) -> None:
    import json

    write(tmp_path / "json", ops__a="VALUE = 1", middle__b="import json; json.dumps({}); from ..ops.a import VALUE\n" + "")
    write(
        tmp_path / "mine",
        ops__a="import json",
        middle__b="from mine.ops.a import json; import mine.ops.a as a; from mine.ops import a as b; assert a is b",
    )
    before = set(sys.modules)
    with Extensions.load([tmp_path / "json", tmp_path / "mine"], "onnx"):
        assert "mine.ops.a" in sys.modules
        assert sys.modules["json"] is json
    left = {name for name in set(sys.modules) - before if not name.startswith(("moir.", "xdsl.", "onnx"))}
    assert not {name for name in left if "extension" in name or name.partition(".")[0] in ("mine", "mo", "extensions")}
    assert not [finder for finder in sys.meta_path if type(finder).__module__.startswith("moir")]


def test_relative_and_circular_imports_give_one_module(tmp_path: Path) -> None:
    write(
        tmp_path / "mine",
        ops__a="class Shared: pass\nfrom mine.ops.b import Other",
        ops__b="import mine.ops.a\nclass Other: pass",
        middle__c="from ..ops.a import Shared as one\nfrom mine.ops.a import Shared as two\nassert one is two",
    )
    assert loaded(tmp_path / "mine") == []


def test_a_package_with_an_initial_file(tmp_path: Path) -> None:
    write(tmp_path / "mine", middle__a="import mine\nassert mine.VALUE == 7\nfrom mine import VALUE")
    (tmp_path / "mine" / "__init__.py").write_text("VALUE = 7")
    assert loaded(tmp_path / "mine") == []
    (tmp_path / "mine" / "__init__.py").write_text("VALUE = 7 / 0")
    with pytest.raises(ConversionError, match=r"__init__\.py:1: the file cannot be loaded: ZeroDivisionError"):
        loaded(tmp_path / "mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nimport no_such_module", r"bad\.py:2: the file cannot be loaded: ModuleNotFoundError: No module named 'no_such_module'"),
        ("def f(:\n", r"bad\.py:1: the file cannot be loaded: SyntaxError"),
        ("\n\nx = y", r"bad\.py:3: the file cannot be loaded: NameError"),
        ("raise SystemExit(3)", r"bad\.py:1: the file cannot be loaded: SystemExit"),
        ("from ext.ops.other import x", r"other\.py:1: the file, which .*bad\.py imports, cannot be loaded: ZeroDivisionError"),
    ],
)
def test_a_file_that_fails(tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ext", ops__bad=text)
    if "other" in text:
        write(tmp_path / "ext", ops__other="1 / 0")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConversionError, match=message) as raised:
        loaded(Path("ext"))
    assert str(raised.value).startswith("ext/ops/")
    assert not [finder for finder in sys.meta_path if type(finder).__module__.startswith("moir")]


def test_packages_beside_a_directory_need_no_init_file(tmp_path: Path) -> None:
    (tmp_path / "beside_package" / "inner").mkdir(parents=True)
    (tmp_path / "beside_data").mkdir()
    (tmp_path / "beside_package" / "inner" / "part.py").write_text("VALUE = 1")
    extension = write(tmp_path / "ext", ops__a="from beside_package.inner.part import VALUE\nassert VALUE == 1")
    with Extensions.load([extension]):
        assert "beside_package" in sys.modules
    assert "beside_package" not in sys.modules
    with pytest.raises(ConversionError, match="No module named 'beside_data'"):
        Extensions.load([write(tmp_path / "other", ops__a="import beside_data")])


def test_modules_beside_a_directory(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "beside_extensions.py").write_text(f"VALUE = {name!r}")
        (tmp_path / name / "json.py").write_text("raise RuntimeError('hides an installed module')")
        write(tmp_path / name / "ext", ops__a=f"import json\nfrom beside_extensions import VALUE\nassert VALUE == {name!r}")
        assert loaded(tmp_path / name / "ext") == []
        assert "beside_extensions" not in sys.modules
    assert not [finder for finder in sys.meta_path if type(finder).__module__.startswith("moir")]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("import no_such_module.part", "install no_such_module, or put it beside the directory ext"),
        ("from theirs.ops.mine import Mine", "call the directory theirs instead of ext, or write ext in place of theirs here"),
        ("from ..ops.mine import Mine", "No module named 'ext.ops.mine'; ext/ops/mine has to be there, as a file or a folder"),
    ],
)
def test_a_module_that_is_not_found(tmp_path: Path, text: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "ext", front__bad=f"\n{text}", ops__other="")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConversionError) as raised:
        loaded(Path("ext"))
    assert str(raised.value).startswith("ext/front/bad.py:2: ")
    assert str(raised.value).endswith(hint)


def test_a_folder_for_no_framework(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    importing = "from .shared import values\n" + dedent(a_pass("InFront"))
    write(tmp_path / "ext", front__a=importing, front_shared__values="", front_pytorch__a="1 / 0")
    assert loaded(tmp_path / "ext") == ["in-front"]
    (message,) = caplog.messages
    assert "ext/front/pytorch is not loaded: it is for no framework that moir reads" in message


def test_what_was_registered_before_a_failure_is_taken_back(tmp_path: Path) -> None:
    operation = """
        from moir.dialects.opset.interfaces.operation import OpsetOp
        from xdsl.irdl import irdl_op_definition

        @irdl_op_definition
        class Mine(OpsetOp):
            name = "extension.Mine"
    """
    write(tmp_path, ops__a=operation, ops__b="1 / 0")
    with pytest.raises(ConversionError):
        loaded(tmp_path)
    assert not opset.is_registered("extension.Mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class A(OpsetOp):\n    name = 'extension.A'", "the operation A is not decorated by irdl_op_definition"),
        ("@irdl_op_definition\nclass A(OpsetOp):\n    name = 'A'", "the operation A is called 'A'; names are like extension.Mine"),
        ("@irdl_op_definition\nclass A(OpsetOp):\n    name = 'onnx.A'", "the operation A is called 'onnx.A'"),
        ("@irdl_op_definition\nclass A(OpsetOp):\n    name = 'opset1.Relu'", "there is an operation opset1.Relu already"),
        ("@irdl_op_definition\nclass A(IRDLOperation):\n    name = 'extension.A'", "the operation A is not derived from OpsetOp"),
        ("class A(ModulePass):\n    def apply(self, ctx, op): pass", "a is a transformation, and ops has no phase"),
    ],
)
def test_operations_that_are_not_as_they_must_be(tmp_path: Path, text: str, message: str) -> None:
    imports = (
        "from moir.dialects.opset.interfaces.operation import OpsetOp\nfrom xdsl.irdl import IRDLOperation, irdl_op_definition\n"
        "from xdsl.passes import ModulePass\n"
    )
    write(tmp_path, ops__a=imports + text)
    with pytest.raises(ConversionError, match=message):
        loaded(tmp_path)


def test_a_directory_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "mine", ops__a="")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConversionError, match=r"mime: an extension cannot be loaded: there is no such directory; did you mean mine\?"):
        loaded(Path("mime"))
    with pytest.raises(ConversionError, match=r"is not a directory"):
        loaded(Path("mine/ops/a.py"))
    with pytest.raises(ConversionError, match=r"mine/ops: the directory holds no extension.*did you mean mine\?"):
        loaded(Path("mine/ops"))
    with pytest.raises(ConversionError, match="no dot"):
        loaded(write(tmp_path / "dots", **{"ops__a.b": ""}))


def test_an_installed_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "installed_extension", middle__mine=a_pass("Mine"))
    (tmp_path / "installed_extension" / "__init__.py").write_text("from pathlib import Path\nPLACE = Path(__file__).parent")
    monkeypatch.syspath_prepend(tmp_path)
    points = EntryPoints(
        [
            EntryPoint("one", "installed_extension", "moir.extensions"),
            EntryPoint("two", "installed_extension:PLACE", "moir.extensions"),
            EntryPoint("three", "no_such_package.at_all", "moir.extensions"),
        ]
    )
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **given: points.select(**given))
    assert loaded(Path("one")) == ["mine"]
    import installed_extension

    assert loaded(Path("two")) == ["mine"]
    assert sys.modules["installed_extension"] is installed_extension
    with pytest.raises(ConversionError, match=r"three: its entry point no_such_package.at_all cannot be loaded"):
        loaded(Path("three"))
    with pytest.raises(ConversionError, match=r"thre: an extension cannot be loaded: .*; did you mean three\?"):
        loaded(Path("thre"))


def test_names_and_ids_are_unique(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"b\.py: a transformation of the name 'mine' is in .*a\.py already"):
        loaded(write(tmp_path / "1", middle__a=a_pass("Mine"), middle__b=a_pass("Mine")))
    with pytest.raises(ConversionError, match="a transformation of the id 'x' is in"):
        loaded(write(tmp_path / "2", middle__a=a_pass("One", "id = 'x'"), middle__b=a_pass("Two", "id = 'x'")))
    with pytest.raises(ConversionError, match="the name 'fuse-swish' is one of moir's passes"):
        loaded(write(tmp_path / "3", middle__a=a_pass("FuseSwish")))
    with pytest.raises(ConversionError, match="'a b' is not a name for a pass"):
        loaded(write(tmp_path / "4", middle__a=a_pass("Mine", "name = 'a b'")))


def test_places(tmp_path: Path) -> None:
    write(
        tmp_path,
        middle__a=a_pass("ByName", "run_after = 'fuse-swish'"),
        middle__b=a_pass("ByClass", "from moir.passes.fuse.fuse_swish import FuseSwishPass\n        run_before = (FuseSwishPass,)"),
        middle__c=a_pass("ByUser", "id = 'the.id'\n        run_after = ('by-name',)"),
        middle__d=a_pass("ById", "run_after = staticmethod(lambda: ['the.id', 'middle-start'])"),
        middle__e=a_pass("OfAnotherFramework", "run_after = ('choose-layouts',)\n        run_before = ['middle-finish']"),
        front__f=a_pass("Lowered", "run_after = ['lower']\n        run_before = ['check-lowered']"),
    )
    names = order(tmp_path)
    place = names.index("fuse-swish")
    assert names[place + 1 : place + 4] == ["by-name", "by-user", "by-id"]
    assert names.index("middle-start") < names.index("by-class") < place
    assert names.index("middle-start") + 1 < names.index("of-another-framework")
    assert names[names.index("lower-onnx") + 1] == "lowered"


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("run_after = ['fuse-swisch']", r"mine refers to 'fuse-swisch', which is not a pass; did you mean fuse-swish"),
        ("run_after = [int]", r"a\.py: run_after of the transformation mine lists the class int, which is not a transformation"),
        ("run_after = [3]", r"a\.py: run_after of the transformation mine lists 3"),
        ("run_after = ['fuse-gelu']\n        run_before = ['fuse-swish']", r"cycle: .*(mine.*fuse-swish|fuse-swish.*mine)"),
        ("run_after = lambda self: 1 / 0", r"run_after of transformation mine \(.*\) \(.*a\.py:5\): ZeroDivisionError"),
    ],
)
def test_places_that_do_not_exist(tmp_path: Path, attributes: str, message: str) -> None:
    write(tmp_path, middle__a=a_pass("Mine", attributes))
    with pytest.raises(ConversionError, match=message):
        order(tmp_path)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("FuseMyMVN2", "fuse-my-mvn2"), ("MVNToX", "mvn-to-x"), ("mine", "mine"), ("A_b", "a-b"), ("HSwish", "h-swish")],
)
def test_kebab_case(name: str, expected: str) -> None:
    assert kebab_case(name) == expected


@pytest.mark.parametrize(
    ("given", "default", "expected"),
    [
        (((), (), {}), True, True),
        (((), (), {}), False, False),
        ((("a",), (), {}), False, True),
        (((), ("a",), {}), True, False),
        ((("a",), ("a",), {}), True, False),
        (((), (), {"MO_ENABLED_TRANSFORMS": "b, a"}), False, True),
        (((), (), {"MO_ENABLED_TRANSFORMS": "a", "MO_DISABLED_TRANSFORMS": "a"}), True, False),
        ((("a",), (), {"MO_DISABLED_TRANSFORMS": "a"}), False, True),
        (((), ("a",), {"MO_ENABLED_TRANSFORMS": "a"}), True, False),
    ],
)
def test_choice(given: tuple[tuple[str, ...], tuple[str, ...], dict[str, str]], default: bool, expected: bool) -> None:
    assert Choice.read(*given).is_enabled(("a", "other"), default) == expected
