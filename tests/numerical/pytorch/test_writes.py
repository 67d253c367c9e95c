"""Writes to tensors, to views of them, to buffers and to inputs, against numpy, whose views are written the same way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import UnsupportedOperationError
from tests.numerical.pytorch.programs import Program, Value
from tests.numerical.runtime import Array, as_array, compare, core, run

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 11


def converted(program: Program, folder: Path) -> list[Array]:
    """The results of a program of the input x."""
    program.save(folder / "m.pt2")
    return run(moir.to_openvino(moir.convert_model(folder / "m.pt2")), {"x": X})


def begun() -> tuple[Program, Value]:
    """A program of a copy of the input x."""
    program = Program()
    x = program.input("x", "f32", X.shape)
    return program, program.node("aten.clone.default", [("self", x)], "f32", X.shape)


def test_a_write_through_a_view_changes_the_tensor_and_its_other_views(tmp_path: Path) -> None:
    program, x = begun()
    row = program.node("aten.select.int", [("self", x), ("dim", 0), ("index", 1)], "f32", (3, 4))
    flat = program.node("aten.view.default", [("self", x), ("size", [-1])], "f32", (24,))
    turned = program.node("aten.transpose.int", [("self", row), ("dim0", 0), ("dim1", 1)], "f32", (4, 3))
    part = program.node("aten.slice.Tensor", [("self", turned), ("dim", 0), ("start", 1), ("end", 3)], "f32", (2, 3))
    result = program.node("aten.mul_.Tensor", [("self", part), ("other", 10)], "f32", (2, 3))
    after = program.node("aten.add.Tensor", [("self", flat), ("other", 1)], "f32", (24,))
    program.node("aten.fill_.Scalar", [("self", row), ("value", 5)], "f32", (3, 4))
    for each in (x, after, result, turned):
        program.output(each)
    wanted = X.copy()
    wanted[1].T[1:3] *= 10
    following = wanted.reshape(-1) + 1
    wanted[1] = 5
    compare(converted(program, tmp_path), [wanted, following, wanted[1].T[1:3], wanted[1].T])


@pytest.mark.parametrize(
    ("target", "arguments", "place", "sizes"),
    [
        ("diagonal.default", [("dim1", 1), ("dim2", 2)], np.s_[:, [0, 1, 2], [0, 1, 2]], [(2, 3)]),
        ("chunk.default", [("chunks", 2), ("dim", 2)], np.s_[:, :, :2], [(2, 3, 2), (2, 3, 2)]),
        ("unbind.int", [("dim", 1)], np.s_[:, 0], [(2, 4)] * 3),
        ("permute.default", [("dims", [2, 0, 1])], np.s_[:], [(4, 2, 3)]),
        ("unsqueeze.default", [("dim", 0)], np.s_[:], [(1, 2, 3, 4)]),
        ("narrow.default", [("dim", 1), ("start", 1), ("length", 2)], np.s_[:, 1:3], [(2, 2, 4)]),
        ("swapdims.default", [("dim0", 0), ("dim1", 2)], np.s_[:], [(4, 3, 2)]),
        ("movedim.intlist", [("source", [0, 1]), ("destination", [1, 2])], np.s_[:], [(4, 2, 3)]),
        ("tensor_split.sections", [("sections", 3), ("dim", 2)], np.s_[:, :, :2], [(2, 3, 2), (2, 3, 1), (2, 3, 1)]),
        ("tensor_split.indices", [("indices", [1]), ("dim", 2)], np.s_[:, :, :1], [(2, 3, 1), (2, 3, 3)]),
        ("vsplit.int", [("sections", 2)], np.s_[:1], [(1, 3, 4), (1, 3, 4)]),
        ("mH.default", [], np.s_[:], [(2, 4, 3)]),
        ("linalg_diagonal.default", [("dim1", 1), ("dim2", 2)], np.s_[:, [0, 1, 2], [0, 1, 2]], [(2, 3)]),
        ("positive.default", [], np.s_[:], [(2, 3, 4)]),
        ("ravel.default", [], np.s_[:], [(24,)]),
        ("_reshape_alias.default", [("size", [6, 4])], np.s_[:], [(6, 4)]),
    ],
)
def test_every_kind_of_view(tmp_path: Path, target: str, arguments: list[tuple[str, object]], place: object, sizes: list[object]) -> None:
    program, x = begun()
    views = program.node_of_several(f"aten.{target}", [("self", x), *arguments], ["f32"] * len(sizes))
    program.node("aten.neg_.default", [("self", views[0])], "f32")
    program.output(x)
    wanted = X.copy()
    wanted[place] = -wanted[place]  # type: ignore[index]
    compare(converted(program, tmp_path), [wanted])


def test_a_copy_is_not_written(tmp_path: Path) -> None:
    program, x = begun()
    turned = program.node("aten.transpose.int", [("self", x), ("dim0", 1), ("dim1", 2)], "f32", (2, 4, 3))
    program.tensors[turned]["strides"] = [{"as_int": stride} for stride in (12, 1, 4)]
    copied = program.node("aten.contiguous.default", [("self", turned)], "f32", (2, 4, 3))
    program.node("aten.zero_.default", [("self", x)], "f32", X.shape)
    program.output(copied)
    compare(converted(program, tmp_path), [X.transpose(0, 2, 1)])


@pytest.mark.parametrize(
    ("sizes", "strides", "shape", "is_view"),
    [
        ((2, 4, 3), (12, 1, 4), (24,), False),
        ((2, 4, 3), (12, 1, 4), (2, 12), False),
        ((2, 4, 3), (12, 1, 4), (2, 2, 2, 1, 3), True),
        ((2, 2, 4), (12, 4, 1), (2, 8), True),
        ((2, 2, 4), (12, 4, 1), (4, 4), False),
        ((2, 1, 4), (12, 4, 1), (2, 2, 2), True),
    ],
)
def test_strides_say_whether_a_reshape_is_a_view(
    tmp_path: Path, sizes: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...], is_view: bool
) -> None:
    program, x = begun()
    if sizes[2] == 3:
        part = program.node("aten.transpose.int", [("self", x), ("dim0", 1), ("dim1", 2)], "f32", sizes)
        wanted = X.transpose(0, 2, 1)
    else:
        part = program.node("aten.slice.Tensor", [("self", x), ("dim", 1), ("start", 0), ("end", sizes[1])], "f32", sizes)
        wanted = X[:, : sizes[1]]
    program.tensors[part]["strides"] = [{"as_int": stride} for stride in strides]
    view = program.node("aten.reshape.default", [("self", part), ("shape", list(shape))], "f32", shape)
    program.node("aten.zero_.default", [("self", x)], "f32", X.shape)
    program.output(view)
    compare(converted(program, tmp_path), [np.zeros(shape, np.float32) if is_view else wanted.reshape(shape)])


def test_an_output_that_is_written_keeps_its_name(tmp_path: Path) -> None:
    program, x = begun()
    row = program.node("aten.select.int", [("self", x), ("dim", 0), ("index", 1)], "f32", (3, 4))
    program.node("aten.fill_.Scalar", [("self", row), ("value", 5)], "f32", (3, 4))
    program.output(x)
    program.save(tmp_path / "m.pt2")
    model = moir.to_openvino(moir.convert_model(tmp_path / "m.pt2"))
    assert model.output(0).get_names() == {str(x)}
    wanted = X.copy()
    wanted[1] = 5
    compare(run(model, {"x": X}), [wanted])


def test_an_output_that_is_asked_for_has_the_writes_before_it(tmp_path: Path) -> None:
    program, x = begun()
    row = program.node("aten.select.int", [("self", x), ("dim", 0), ("index", 1)], "f32", (3, 4))
    program.node("aten.fill_.Scalar", [("self", row), ("value", 5)], "f32", (3, 4))
    doubled = program.node("aten.mul.Tensor", [("self", x), ("other", 2)], "f32", X.shape)
    program.output(program.node("aten.neg.default", [("self", doubled)], "f32", X.shape))
    program.save(tmp_path / "m.pt2")
    wanted = X.copy()
    wanted[1] = 5
    compare(run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2", output=str(doubled))), {"x": X}), [2 * wanted])


def test_running_statistics_that_are_written_are_states(tmp_path: Path) -> None:
    program = Program()
    mean, variance = (program.weight(name, np.full(3, value, np.float32), "buffer") for name, value in (("mean", 0), ("variance", 1)))
    x = program.input("x", "f32", X.shape)
    arguments = [("input", x), ("weight", None), ("bias", None), ("running_mean", mean), ("running_var", variance)]
    further = [("training", True), ("momentum", 0.25), ("eps", 1e-5), ("cudnn_enabled", True)]
    program.node("aten.batch_norm.default", [*arguments, *further], "f32", X.shape)
    program.output(program.node("aten.add.Tensor", [("self", mean), ("other", 0)], "f32", (3,)))
    program.output(program.node("aten.add.Tensor", [("self", variance), ("other", 0)], "f32", (3,)))
    program.save(tmp_path / "m.pt2")
    converted_module = moir.convert_model(tmp_path / "m.pt2")
    request = core().compile_model(moir.to_openvino(converted_module), "CPU").create_infer_request()
    wanted = [np.zeros(3), np.ones(3)]
    for _ in range(2):
        request.infer({"x": X})
        statistics = [X.mean((0, 2)), X.var((0, 2), ddof=1)]
        wanted = [0.25 * after + 0.75 * before for after, before in zip(statistics, wanted, strict=True)]
        compare([as_array(request.get_output_tensor(index)) for index in (0, 1)], [each.astype(np.float32) for each in wanted])


def test_what_may_be_a_copy_is_refused_where_it_matters(tmp_path: Path) -> None:
    program, x = begun()
    turned = program.node("aten.transpose.int", [("self", x), ("dim0", 1), ("dim1", 2)], "f32", (2, 4, 3))
    program.tensors[turned]["strides"] = [{"as_int": stride} for stride in (12, 1, 4)]
    program.tensors[turned]["sizes"][0] = {"as_expr": {"expr_str": "s0"}}
    flat = program.node("aten.reshape.default", [("self", turned), ("shape", [-1])], "f32", (24,))
    program.node("aten.zero_.default", [("self", x)], "f32", X.shape)
    program.output(flat)
    with pytest.raises(UnsupportedOperationError, match=r"does not say whether the result is a copy; .*run_decompositions"):
        converted(program, tmp_path)


def test_a_write_that_nobody_knows_is_refused_by_name(tmp_path: Path) -> None:
    program, x = begun()
    program.node("aten.unsqueeze_.default", [("self", x), ("dim", 0)], "f32", X.shape)
    program.output(x)
    with pytest.raises(UnsupportedOperationError, match=r"aten.unsqueeze_.default 'v1_0': it writes to its operands"):
        converted(program, tmp_path)


def test_a_write_to_conjugates_is_refused(tmp_path: Path) -> None:
    program, x = begun()
    pairs = program.node(
        "aten.view_as_complex.default",
        [("self", program.node("aten.stack.default", [("tensors", [x, x]), ("dim", -1)], "f32", (2, 3, 4, 2)))],
        "c64",
        (2, 3, 4),
    )
    turned = program.node("aten.mH.default", [("self", pairs)], "c64", (2, 4, 3))
    program.node("aten.mul_.Tensor", [("self", turned), ("other", 2)], "c64", (2, 4, 3))
    program.output(program.node("aten.view_as_real.default", [("self", pairs)], "f32", (2, 3, 4, 2)))
    with pytest.raises(UnsupportedOperationError, match=r"writes to the result of mH.default, whose complex numbers are the conj"):
        converted(program, tmp_path)


def test_a_write_to_repeated_elements_is_refused(tmp_path: Path) -> None:
    program, x = begun()
    wide = program.node("aten.expand.default", [("self", x), ("size", [2, 2, 3, 4])], "f32", (2, 2, 3, 4))
    program.node("aten.relu_.default", [("self", wide)], "f32", (2, 2, 3, 4))
    program.output(x)
    with pytest.raises(UnsupportedOperationError, match="in which elements occur several times"):
        converted(program, tmp_path)


def counting(form: str) -> Program:
    """A program that adds its input to a buffer, in place or as the signature of a decomposed program says it."""
    program = Program()
    total = program.weight("total", np.ones((2, 3, 4), np.float32), "buffer")
    x = program.input("x", "f32", X.shape)
    if form == "in place":
        program.node("aten.add_.Tensor", [("self", total), ("other", x)], "f32", X.shape)
        program.output(program.node("aten.mul.Tensor", [("self", total), ("other", 2)], "f32", X.shape))
    else:
        added = program.node("aten.add.Tensor", [("self", total), ("other", x)], "f32", X.shape)
        program.outputs.append({"buffer_mutation": {"arg": {"name": str(added)}, "buffer_name": "total"}})
        program.output(program.node("aten.mul.Tensor", [("self", added), ("other", 2)], "f32", X.shape))
    return program


@pytest.mark.parametrize("form", ["in place", "by the signature"])
def test_a_buffer_that_is_written_is_a_state(tmp_path: Path, form: str) -> None:
    counting(form).save(tmp_path / "m.pt2")
    request = core().compile_model(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), "CPU").create_infer_request()
    for count in (1, 2):
        request.infer({"x": X})
        compare([as_array(request.get_output_tensor(0))], [2 * (1 + count * X)])


def test_weights_that_are_written_multiply_right(tmp_path: Path) -> None:
    weights = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
    program = Program()
    held = program.weight("weights", weights, "buffer")
    x = program.input("x", "f32", X.shape)
    program.node("aten.mul_.Tensor", [("self", held), ("other", 2)], "f32", weights.shape)
    program.output(program.node("aten.linear.default", [("input", x), ("weight", held)], "f32", (2, 3, 3)))
    program.save(tmp_path / "m.pt2")
    request = core().compile_model(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), "CPU").create_infer_request()
    for factor in (2, 4):
        request.infer({"x": X})
        compare([as_array(request.get_output_tensor(0))], [factor * (X @ weights.T)])


def test_an_input_that_is_written_is_an_output_too(tmp_path: Path) -> None:
    program = Program()
    x = program.input("x", "f32", X.shape)
    program.node("aten.relu_.default", [("self", x)], "f32", X.shape)
    program.output(program.node("aten.neg.default", [("self", x)], "f32", X.shape))
    compare(converted(program, tmp_path), [-np.maximum(X, 0), np.maximum(X, 0)])


def test_a_buffer_that_is_written_and_never_read_is_no_state(tmp_path: Path) -> None:
    program = Program()
    seen = program.weight("seen", np.zeros(3, np.float32), "buffer")
    x = program.input("x", "f32", [3])
    program.node("aten.copy_.default", [("self", seen), ("src", x)], "f32", (3,))
    program.output(program.node("aten.neg.default", [("self", seen)], "f32", (3,)))
    program.save(tmp_path / "m.pt2")
    model = moir.to_openvino(moir.convert_model(tmp_path / "m.pt2"))
    assert list(model.get_variables()) == []
    values = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(run(model, {"x": values})[0], -values)
