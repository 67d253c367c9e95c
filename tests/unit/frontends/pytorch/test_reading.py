"""Archives, pickles and programs: what is read of them, and that what is damaged or foreign is one clear error."""

from __future__ import annotations

import json
import math
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.dialects.moir import models_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.properties import value_of
from moir.errors import ModelFileError
from moir.frontends.pytorch import read_model
from moir.frontends.pytorch.expressions import LARGEST, Call, Symbol, bounds_of, parse
from tests.numerical.pytorch.programs import Program, archive

WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4)


def small() -> Program:
    """A program of one transposed weight."""
    program = Program()
    weight = program.weight("fc.weight", WEIGHT.T)
    x = program.input("x", "f32", ["Symbol('s7', positive=True, integer=True)", "Mul(Integer(4), Symbol('s1'))", 3])
    program.ranges = {"s7": {"min_val": 2, "max_val": 9}, "s1": {"min_val": 1, "max_val": 8}}
    program.output(program.node("aten.linear.default", [("input", x), ("weight", weight)], "f32"))
    return program


def read(path: Path, program: Program) -> Any:
    """The operations of the module of a program."""
    program.save(path / "m.pt2")
    return list(models_of(read_model(path / "m.pt2"))[0].block.ops)


def test_weights_are_views_of_the_file_with_their_strides(tmp_path: Path) -> None:
    (constant,) = (op for op in read(tmp_path, small()) if isinstance(op, Constant))
    array = constant.value.array
    assert array is not None
    np.testing.assert_array_equal(array, WEIGHT.T)
    assert array.strides == (4, 16)
    assert not array.flags.owndata
    assert value_of(constant.attributes["name"]) == "fc.weight"


def test_symbols_name_dimensions_with_their_bounds(tmp_path: Path) -> None:
    (parameter,) = (op for op in read(tmp_path, small()) if isinstance(op, Parameter))
    assert value_of(parameter.attributes["dimension_names"]) == ("s7", "", "")
    assert value_of(parameter.properties["bounds"]) == "0..9,0..32,3"


def test_lower_bounds_that_torch_enforces(tmp_path: Path) -> None:
    """Export writes 2 for sizes without a lower bound, and the program runs with 0 and 1."""
    program = small()
    program.ranges = {"s7": {"min_val": 2, "max_val": None}, "s1": {"min_val": 3, "max_val": 8}}
    (parameter,) = (op for op in read(tmp_path, program) if isinstance(op, Parameter))
    assert value_of(parameter.properties["bounds"]) == "?,12..32,3"


def test_symbols_of_torch_2_5(tmp_path: Path) -> None:
    program = Program()
    x = program.input("x", "f32", ["s0", "4*s1", "s1 + 2"])
    program.ranges = {"s0": {"min_val": 2, "max_val": math.inf}, "s1": {"min_val": -math.inf, "max_val": 8}}
    program.output(program.node("aten.relu.default", [("self", x)], "f32"))
    (parameter,) = (op for op in read(tmp_path, program) if isinstance(op, Parameter))
    assert value_of(parameter.attributes["dimension_names"]) == ("s0", "", "")
    assert value_of(parameter.properties["bounds"]) == "?,0..32,2..10"


def test_programs_of_an_archive_are_chosen_by_name(tmp_path: Path) -> None:
    records = small().records()
    records["m/models/second.json"] = records["m/models/model.json"]
    (tmp_path / "m.pt2").write_bytes(archive(records))
    with pytest.raises(ModelFileError, match="2 programs; choose one: --program model or second"):
        read_model(tmp_path / "m.pt2")
    with pytest.raises(ModelFileError, match="no program 'modle'; did you mean"):
        read_model(tmp_path / "m.pt2", program="modle")
    assert models_of(read_model(tmp_path / "m.pt2", program="model"))


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The archive of a program whose JSON is changed."""
    records = small().records()
    content = json.loads(records["m/models/model.json"])
    change(content)
    records["m/models/model.json"] = json.dumps(content).encode()
    return archive(records)


def graph(content: dict[str, Any]) -> dict[str, Any]:
    """The graph of a program."""
    return content["graph_module"]["graph"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["schema_version"].update(major=9), r"a program of schema 9.20; moir reads 7.x and 8.x"),
        (lambda c: c.pop("graph_module"), "'graph_module' is missing"),
        (lambda c: graph(c).update(nodes=3), "'nodes' is int"),
        (lambda c: graph(c)["nodes"][0]["inputs"][0].update(arg={"as_tensor": {"name": "y"}}), "the value 'y' is not computed"),
        (lambda c: graph(c)["nodes"][0]["inputs"][0].update(arg={}), "one of several kinds"),
        (lambda c: graph(c)["tensor_values"]["x"].update(dtype=77), "the unknown element type 77"),
        (lambda c: graph(c)["tensor_values"]["x"]["sizes"].__setitem__(0, {"as_expr": {"expr_str": "__import__('os')"}}), "not a function"),
        (lambda c: c["graph_module"]["signature"]["input_specs"][0]["parameter"].update(parameter_name="w"), "the value of 'w' is not"),
        (lambda c: c["graph_module"]["signature"].update(output_specs=[]), "no output that is a tensor"),
    ],
)
def test_a_damaged_program_is_an_error_with_its_place(tmp_path: Path, change: Callable[[Any], object], message: str) -> None:
    (tmp_path / "m.pt2").write_bytes(changed(change))
    with pytest.raises(ModelFileError, match=message):
        read_model(tmp_path / "m.pt2")


def test_a_record_that_is_too_short_is_an_error(tmp_path: Path) -> None:
    records = small().records()
    records["m/data/weights/weight_0"] = bytes(44)
    (tmp_path / "m.pt2").write_bytes(archive(records))
    with pytest.raises(ModelFileError, match=r"'fc.weight': a tensor of shape .4, 3. does not fit into its storage of 44 bytes"):
        read_model(tmp_path / "m.pt2")


def test_a_tensor_that_repeats_few_elements_without_limit_is_an_error(tmp_path: Path) -> None:
    records = small().records()
    place = "m/data/weights/model_weights_config.json"
    config = json.loads(records[place])
    config["config"]["fc.weight"]["tensor_meta"].update(sizes=[{"as_int": 1 << 30}], strides=[{"as_int": 0}])
    (tmp_path / "m.pt2").write_bytes(archive({**records, place: json.dumps(config).encode()}))
    with pytest.raises(ModelFileError, match="repeats the elements of a storage of 48 bytes"):
        read_model(tmp_path / "m.pt2")


def test_a_cut_file_is_an_error_wherever_it_ends(tmp_path: Path) -> None:
    content = archive(small().records())
    for length in range(40, len(content), 37):
        (tmp_path / "m.pt2").write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            read_model(tmp_path / "m.pt2")


def test_a_compressed_archive_is_an_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.pt2", "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in small().records().items():
            written.writestr(name, content)
    with pytest.raises(ModelFileError, match="compressed or encrypted"):
        read_model(tmp_path / "m.pt2")


class _Named:
    """Pickles as a call of a function of any name."""

    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call


def pickled(content: bytes, storages: dict[str, bytes]) -> bytes:
    """What `torch.save` writes around a pickle."""
    return archive({"archive/data.pkl": content, **{f"archive/data/{key}": data for key, data in storages.items()}})


def old_archive(state: bytes) -> bytes:
    """An archive of torch 2.7 or older with these weights."""
    records = small().records()
    return archive(
        {
            "serialized_exported_program.json": records["m/models/model.json"],
            "serialized_state_dict.pt": state,
            "serialized_constants.pt": b"",
            "version": b"8.7",
        }
    )


STATE = (
    b"\x80\x02}X\x09\x00\x00\x00fc.weightctorch._utils\n_rebuild_tensor_v2\n("
    b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x0ctQ"
    b"K\x00K\x04K\x03\x86K\x01K\x04\x86\x89ccollections\nOrderedDict\n)RtRs."
)
"""The pickle of {"fc.weight": a transposed tensor [4, 3] over storage 0}."""


def test_pickled_weights_are_views_too(tmp_path: Path) -> None:
    (tmp_path / "m.pt2").write_bytes(old_archive(pickled(STATE, {"0": WEIGHT.tobytes()})))
    module = read_model(tmp_path / "m.pt2")
    (constant,) = (op for op in models_of(module)[0].block.ops if isinstance(op, Constant))
    assert constant.value.array is not None
    np.testing.assert_array_equal(constant.value.array, WEIGHT.T)
    assert not constant.value.array.flags.owndata


def test_settings_of_quantized_tensors_are_passed_over(tmp_path: Path) -> None:
    """What torchao holds beside the inner tensors: an object with a state, and a member of an enumeration."""
    module = b"ctorchao.quantization.quantize_.workflows.int8.int8_tensor\nQuantizeTensorToInt8Kwargs\n"
    setting = module + b")\x81}X\x01\x00\x00\x00aK\x01sb"
    member = b"ctorchao.quantization.quant_primitives\nMappingType\nK\x01\x85R"
    content = STATE[:-1] + b"X\x01\x00\x00\x00s" + setting + b"sX\x01\x00\x00\x00m" + member + b"s."
    (tmp_path / "m.pt2").write_bytes(old_archive(pickled(content, {"0": WEIGHT.tobytes()})))
    (constant,) = (op for op in models_of(read_model(tmp_path / "m.pt2"))[0].block.ops if isinstance(op, Constant))
    np.testing.assert_array_equal(constant.value.array, WEIGHT.T)


@pytest.mark.parametrize(
    ("call", "name"),
    [((print, ("x",)), "builtins.print"), ((eval, ("1",)), "builtins.eval"), ((np.zeros, (3,)), "numpy.zeros")],
)
def test_a_pickle_that_names_anything_but_tensors_is_refused_by_that_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], call: Any, name: str
) -> None:
    content = pickle.dumps({"fc.weight": _Named(*call)}, protocol=2).replace(b"__builtin__", b"builtins")
    (tmp_path / "m.pt2").write_bytes(old_archive(pickled(content, {})))
    with pytest.raises(ModelFileError, match=f"the pickle names {name}, which is not a tensor; nothing of it is executed"):
        read_model(tmp_path / "m.pt2")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "call",
    [
        b"cantigravity\nfly\n)R.",
        b"}(X\x09\x00\x00\x00fc.weightcantigravity\nfly\nu.",
        b"\x8c\x0bantigravity\x8c\x03fly\x93.",
        b"(S'x'\niantigravity\nfly\n.",
        b"cantigravity\nfly\n)\x81.",
    ],
)
def test_a_module_that_a_pickle_names_is_never_imported(tmp_path: Path, call: bytes) -> None:
    (tmp_path / "m.pt2").write_bytes(old_archive(pickled(b"\x80\x04" + call, {})))
    with pytest.raises(ModelFileError, match=r"the pickle names antigravity\.fly, which is not a tensor"):
        read_model(tmp_path / "m.pt2")
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("name", ["torch.load", "torch.serialization.load", "torchao.quantization.quantize_", "collections.namedtuple"])
def test_other_names_of_the_packages_of_tensors_are_refused_too(tmp_path: Path, name: str) -> None:
    module, _, function = name.rpartition(".")
    content = f"c{module}\n{function}\n)R.".encode()
    (tmp_path / "m.pt2").write_bytes(old_archive(pickled(b"\x80\x02" + content, {})))
    with pytest.raises(ModelFileError, match=f"the pickle names {name}, which is not a tensor"):
        read_model(tmp_path / "m.pt2")


def test_cut_pickles_are_errors(tmp_path: Path) -> None:
    for length in range(1, len(STATE), 7):
        (tmp_path / "m.pt2").write_bytes(old_archive(pickled(STATE[:length], {"0": WEIGHT.tobytes()})))
        with pytest.raises(ModelFileError):
            read_model(tmp_path / "m.pt2")


def test_expressions_are_parsed() -> None:
    text = "Add(Mul(Integer(16), Symbol('s77', positive=True, integer=True)), Integer(-1))"
    parsed = parse(text)
    assert parsed == Call("Add", (Call("Mul", (16, Symbol("s77"))), -1))
    assert bounds_of(parsed, {"s77": (2, 10)}) == (31, 159)
    assert bounds_of(parse("FloorDiv(Symbol('s0'), Integer(2))"), {"s0": (4, 9)}) == (2, 4)
    assert bounds_of(parse("Max(Symbol('s0'), Integer(2))"), {}) == (0, LARGEST)


def test_expressions_with_operators_are_parsed() -> None:
    assert parse("16*s77 - 1") == parse("Add(Mul(Integer(16), Symbol('s77', positive=True, integer=True)), Integer(-1))")
    assert parse("(((s0 - 1)//4))*s1**2 + 1") == Call(
        "Add",
        (Call("Mul", (Call("FloorDiv", (Call("Add", (Symbol("s0"), -1)), 4)), Call("Pow", (Symbol("s1"), 2)))), 1),
    )
    assert parse("a - b - c") == Call("Add", (Symbol("a"), Call("Mul", (-1, Symbol("b"))), Call("Mul", (-1, Symbol("c")))))
    assert parse("-a*2") == Call("Mul", (-1, Symbol("a"), 2))
    assert parse("2**-a**2") == Call("Pow", (2, Call("Mul", (-1, Call("Pow", (Symbol("a"), 2))))))
    assert parse("Max(1, s0 % 3)") == Call("Max", (1, Call("Mod", (Symbol("s0"), 3))))
    assert bounds_of(parse("+".join(["s0"] * 5000)), {"s0": (1, 2)}) == (5000, 10000)


DAMAGED = (
    *("", "Add(", "Add(1", "1 2", "os.system('x')", "x +", "(x", "x y", "* x", "Add(1))", "Symbol" * 9999, "Add(" * 99 + ")" * 99),
    *("(" * 99 + "x" + ")" * 99, "-" * 99 + "x", "x" + "//2" * 99, "2" + "**2" * 99),
)
"""Texts that are no expressions, or have too many levels."""


@pytest.mark.parametrize("text", DAMAGED)
def test_other_texts_are_no_expressions(text: str) -> None:
    with pytest.raises(ValueError, match=r"expression|function"):
        parse(text)
