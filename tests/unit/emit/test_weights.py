"""The .bin: places, sharing, packing, and memory."""

from __future__ import annotations

import mmap
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest

from moir.dialects import element_types
from moir.dialects.data import DataAttr, pack_strings
from moir.emit import serialize, write_model
from moir.emit.weights import ALIGNMENT, Weights
from moir.errors import ConversionError, EmissionError


def content(weights: Weights) -> bytes:
    pieces: list[bytes] = []
    weights.write(lambda piece: pieces.append(bytes(piece)))
    return b"".join(pieces)


def test_places_are_aligned_and_hold_the_bytes() -> None:
    weights = Weights()
    arrays = [np.arange(n, dtype=np.float32) + n for n in (1, 7, 100, 5000)]
    places = [weights.place(DataAttr.of(array)) for array in arrays]
    data = content(weights)
    assert len(data) == weights.size
    for array, (offset, size) in zip(arrays, places, strict=True):
        assert offset % ALIGNMENT == 0
        assert data[offset : offset + size] == array.tobytes()


def test_a_file_with_a_constant_is_not_empty() -> None:
    """The runtime crashes on constants without elements in an empty file."""
    weights = Weights()
    assert content(weights) == b""
    assert weights.place(DataAttr.of(np.zeros((0, 3), np.float32))) == (0, 0)
    assert content(weights) == b"\0"
    assert weights.place(DataAttr.of(np.ones(2, np.float32))) == (0, 8)
    assert len(content(weights)) == 8


@pytest.mark.parametrize("count", [4, 100, 400_000, 3_000_000])
def test_equal_bytes_share_a_place_whatever_shape_and_type(count: int) -> None:
    values = np.random.default_rng(0).integers(0, 255, 4 * count, dtype=np.uint8)
    same = [
        values,
        values.copy().reshape(2, -1),
        values.view(np.int32).copy(),
        np.ascontiguousarray(values.reshape(-1, 4).T).T,
        values.view(np.int8).copy().reshape(4, -1),
    ]
    weights = Weights()
    assert {weights.place(DataAttr.of(array)) for array in same} == {(0, 4 * count)}
    other = values.copy()
    other[count] ^= 1
    assert weights.place(DataAttr.of(other))[0] > 0


@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 3, 700_000), (1, 2_000_000, 3), (2_000_000, 1, 3)])
def test_strided_arrays_are_written_in_c_order(shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape).transpose(2, 0, 1)[::-1]
    weights = Weights()
    weights.place(DataAttr.of(array))
    assert content(weights) == array.tobytes()


def test_big_endian_values_are_swapped() -> None:
    weights = Weights()
    weights.place(DataAttr.of(np.arange(3, dtype=">i4"), element_types.si32))
    assert content(weights) == np.arange(3, dtype="<i4").tobytes()


def test_fill_gives_the_same_bytes() -> None:
    weights = Weights()
    for array in (np.arange(3), np.ones((2, 2), np.float16), np.zeros((5,), np.bool_)):
        weights.place(DataAttr.of(array))
    buffer = np.empty(weights.size, np.uint8)
    weights.fill(buffer)
    assert buffer.tobytes() == content(weights)


def test_storage_that_contradicts_the_type_is_refused() -> None:
    with pytest.raises(EmissionError, match="an array of 2 bytes cannot be a constant of type i4 and shape"):
        Weights().place(DataAttr.of(np.zeros(2, np.uint8), element_types.si4, (9,)))


def test_value_left_out_of_the_text_is_an_error_that_names_the_constant(parse: Any) -> None:
    module = parse('%0 = opset1.Constant() {value = #moir.data<tensor<900xf32>, elided "0">, name = "w"} : tensor<900xf32>')
    with pytest.raises(ConversionError, match=r"opset1.Constant 'w': the value of a constant .* was left out"):
        serialize(module)


CONSTANTS = """
    %0 = opset1.Constant() {value = #moir.data<tensor<3x!moir.string>, ["", "über", "z"]>, name = "s"} : tensor<3x!moir.string>
    %1 = opset1.Constant() {value = #moir.data<tensor<0x2xf32>, []>, name = "e"} : tensor<0x2xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<3xui4>, [33, 3]>, name = "p"} : tensor<3xui4>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xi1>, [true, false]>, name = "b"} : tensor<2xi1>
    %4 = opset1.Constant() {value = #moir.data<tensor<bf16>, [1.5]>, name = "h"} : tensor<bf16>
    opset1.Result(%0)
    opset1.Result(%1)
    opset1.Result(%2)
    opset1.Result(%3)
    opset1.Result(%4)
"""


def test_constants_of_every_storage_are_read(parse: Any, tmp_path: Path) -> None:
    written = write_model(parse(CONSTANTS), tmp_path / "m.xml")
    constants = {op.get_friendly_name(): op for op in openvino.Core().read_model(written.xml_path).get_ops()}
    assert constants["s"].get_value_strings() == ["", "über", "z"]
    assert constants["e"].get_data().shape == (0, 2)
    assert list(constants["p"].get_vector()) == [1, 2, 3]
    assert list(constants["b"].get_data()) == [True, False]
    assert constants["h"].get_element_type() == openvino.Type.bf16
    assert pack_strings(["", "über", "z"]) in written.bin_path.read_bytes()


def test_model_without_constants(parse: Any, tmp_path: Path, run: Any) -> None:
    module = parse("""
        %0 = opset1.Parameter() {name = "x"} : tensor<2xf32>
        %1 = opset1.Add(%0, %0) {} : tensor<2xf32>
        opset1.Result(%1)
    """)
    written = write_model(module, tmp_path / "m.xml")
    assert written.bin_path.stat().st_size == 0
    np.testing.assert_array_equal(run(written.xml_path, np.ones(2, np.float32))[0], [2, 2])


MEMORY = """
import mmap, resource, sys
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Constant, Result
from moir.dialects.shapes import tensor
from moir.emit import write_model

with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
values = np.frombuffer(mapped, np.float32)
block = Block()
for array in (values, *values.reshape(70, -1), values.reshape(7, -1)):
    constant = Constant.create(properties={"value": DataAttr.of(array)}, result_types=[tensor(array.shape, f32)])
    block.add_ops([constant, Result.create(operands=[constant.results[0]])])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
written = write_model(ModuleOp([ModelOp.of("m", block)]), sys.argv[2])
print(written.weights_bytes, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED") or sys.platform != "linux", reason="ru_maxrss and madvise are those of Linux")
def test_mapped_weights_do_not_stand_in_memory(tmp_path: Path) -> None:
    size = 70 << 20
    source = tmp_path / "source"
    with source.open("wb") as file:
        for seed in range(70):
            file.write(np.random.default_rng(seed).bytes(1 << 20))
    command = [sys.executable, "-c", MEMORY, str(source), str(tmp_path / "m.xml")]
    written, growth = map(int, subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split())
    assert written >= 2 * size, "the whole array and its parts are different constants"
    assert growth < 40 << 10, f"{growth} KiB"
    assert (tmp_path / "m.bin").read_bytes()[:size] == source.read_bytes()
