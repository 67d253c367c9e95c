"""Checkpoints: the sorted table of the index, keys of slices, tensors in data files."""

from __future__ import annotations

import random
import re
import shutil
import struct
import sys
import tracemalloc
from pathlib import Path

import cramjam
import numpy as np
import pytest

from moir.dialects import element_types
from moir.errors import ConversionError, ModelFileError
from moir.files.protobuf.wire import encode_varint
from moir.frontends.tensorflow.checkpoint.bundle import OBJECT_GRAPH_KEY, Bundle
from moir.frontends.tensorflow.checkpoint.checksum import crc32c, masked
from moir.frontends.tensorflow.checkpoint.ordered_code import encode_natural, encode_signed, encode_string, slice_key
from moir.frontends.tensorflow.checkpoint.sorted_table import MAGIC, SortedTable
from moir.frontends.tensorflow.messages import message_class
from tests.unit.frontends.tensorflow.sorted_tables import block, index, table, trailed

FIXTURES = Path(__file__).parents[3] / "fixtures" / "tensorflow"
FLOAT, STRING = 1, 7


def ramp(shape: tuple[int, ...], start: float = 0.0) -> np.ndarray:
    """The numbers generate.py gives variables."""
    return (start + np.arange(np.prod(shape)).reshape(shape) / 8).astype(np.float32)


def test_checksum() -> None:
    # Vectors of RFC 3720, B.4.
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(range(32)) == 0x46DD794E
    assert masked(0) == 0xA282EAD8


@pytest.mark.parametrize(
    ("value", "encoded"),
    [
        (0, "80"),
        (63, "bf"),
        (-1, "7f"),
        (-64, "40"),
        (64, "c040"),
        (-65, "3fbf"),
        (8191, "dfff"),
        (8192, "e02000"),
        (2**63 - 1, "ffc07fffffffffffffff"),
        (-(2**63), "003f8000000000000000"),
    ],
)
def test_signed_numbers(value: int, encoded: str) -> None:
    assert encode_signed(value).hex() == encoded


def test_order_of_signed_numbers() -> None:
    numbers = sorted({sign * ((1 << bits) + delta) for bits in range(62) for delta in (-1, 0, 1) for sign in (-1, 1)})
    assert [encode_signed(number) for number in numbers] == sorted(encode_signed(number) for number in numbers)


def test_slice_keys() -> None:
    assert encode_natural(0) == b"\0"
    assert encode_natural(258) == b"\2\1\2"
    assert encode_string(b"a\0b\xffc") == b"a\0\xffb\xff\0c\0\1"
    assert slice_key(b"rows", [(0, 3), (0, -1)]) == b"\0rows\0\1\1\2\x80\x83\x80\x7f"


def write(folder: Path, content: bytes, name: str = "m.index") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_table_of_several_blocks(tmp_path: Path) -> None:
    entries = [(f"layer/{number:03d}/weights".encode(), bytes([number])) for number in range(90)]
    blocks = [block(entries[start : start + 30]) for start in range(0, 90, 30)]
    assert SortedTable(write(tmp_path, table(blocks))).entries == dict(entries)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"x" * 100, "not the index"),
        (table([block([(b"a", b"1")])])[:-1], "not the index"),
        (table([block([(b"a", b"1")], compression=1)]), "a compressed block is damaged"),
        (table([trailed(encode_varint(1 << 40) + b"\0a" * 20, 1)]), "a compressed block of 46 bytes claims to have 1099511627776"),
        (table([trailed(b"\xff" * 12, 1)]), "a compressed block is damaged"),
        (table([block([(b"a", b"1")], compression=9)]), "method 9"),
        (table([block([(b"b", b"1")]), block([(b"a", b"1")])]), "order"),
        (table([trailed(struct.pack("<I", 7))]), "restart points"),
        (table([trailed(b"")]), "restart points"),
        (table([trailed(b"\x05\x01\x01ab" + struct.pack("<II", 0, 1))]), "entry of a block"),
        (table([trailed(b"\x00\x7f\x01ab" + struct.pack("<II", 0, 1))]), "entry of a block"),
        (table([trailed(b"\x00\xff" + struct.pack("<II", 0, 1))]), "entry of a block"),
    ],
)
def test_damaged_tables(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        SortedTable(write(tmp_path, content))


def compressed(plain: bytes) -> bytes:
    """A block, as `block` returns it, compressed with Snappy."""
    return trailed(bytes(cramjam.snappy.compress_raw(plain[:-5])), 1)


def test_compressed_blocks(tmp_path: Path) -> None:
    entries = [(f"layer/{number:03d}/weights".encode(), bytes([number]) * 100) for number in range(90)]
    blocks = [compressed(block(entries[start : start + 30])) for start in range(0, 90, 30)]
    assert SortedTable(write(tmp_path, table(blocks))).entries == dict(entries)


def test_a_compressed_block_that_stands_for_many(tmp_path: Path) -> None:
    """A block of restart points only has no keys whose order would tell that it is the same one again."""
    words = 1 << 16
    part = compressed(bytes(4 * words) + struct.pack("<I", words) + bytes(5))
    place = encode_varint(0) + encode_varint(len(part) - 5)
    places = block([(struct.pack(">H", number), place) for number in range(5000)])
    handles = encode_varint(0) + encode_varint(0) + encode_varint(len(part)) + encode_varint(len(places) - 5)
    path = write(tmp_path, part + places + handles.ljust(40, b"\0") + struct.pack("<Q", MAGIC))
    with pytest.raises(ModelFileError, match="its blocks take far more memory than the file"):
        SortedTable(path)


def test_compression_without_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cramjam", None)
    path = write(tmp_path, table([compressed(block([(b"a", b"1")]))]))
    with pytest.raises(ModelFileError, match=re.escape("compressed with Snappy, for which a package is missing; install moir[snappy]")):
        SortedTable(path)


def test_checksum_of_blocks(tmp_path: Path) -> None:
    content = bytearray(index({b"key": b"value"}))
    content[4] ^= 1
    with pytest.raises(ModelFileError, match=r"m\.index, offset 0: the checksum of a block is wrong"):
        SortedTable(write(tmp_path, bytes(content)))


def test_shared_prefixes_do_not_fill_the_memory(tmp_path: Path) -> None:
    first = b"\x00" + b"\x80\x60" + b"\x00" + b"k" * 12288
    grown = b"".join(b"\x80\x60\x02\x00" + struct.pack(">H", number) for number in range(40000))
    path = write(tmp_path, table([trailed(first + grown + struct.pack("<II", 0, 1))]))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="more memory"):
        SortedTable(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 << 20


def entry(
    data_type: int, shape: tuple[int, ...], size: int, offset: int = 0, shard: int = 0, slices: list[list[tuple[int, int]]] | None = None
) -> bytes:
    """The encoding of a BundleEntryProto."""
    message = message_class("BundleEntryProto")(dtype=data_type, shard_id=shard, offset=offset, size=size)
    for dimension in shape:
        message.shape.dim.add(size=dimension)
    for extents in slices or []:
        part = message.slices.add()
        for start, length in extents:
            part.extent.add(start=start, **({} if length == -1 else {"length": length}))
    return message.SerializeToString()


def bundle(folder: Path, entries: dict[bytes, bytes], data: bytes, shards: int = 1, **header: int) -> Bundle:
    """A checkpoint with the given entries, all data in the first data file."""
    head = message_class("BundleHeaderProto")(num_shards=shards, **header)
    write(folder, index({b"": head.SerializeToString(), **entries}))
    write(folder, data, f"m.data-00000-of-{shards:05d}")
    return Bundle(folder / "m")


def test_bundle(tmp_path: Path) -> None:
    data = ramp((2, 3)).tobytes()
    actual = bundle(tmp_path, {b"w": entry(FLOAT, (2, 3), 24), b"e": entry(FLOAT, (0, 3), 0, offset=24)}, data)
    assert actual.keys() == ["e", "w"]
    assert np.array_equal(actual.read("w").array, ramp((2, 3)))
    assert not actual.read("w").array.flags.writeable
    assert actual.read("e").shape == (0, 3)
    assert np.array_equal(actual.read("w", [(1, 1), (0, -1)]).array, ramp((2, 3))[1:])
    assert "w" in actual
    assert "" not in actual


def test_strings(tmp_path: Path) -> None:
    texts = ["moss", "", "fern and reed" * 20]
    lengths = b"\x04\x00\x84\x02"
    data = lengths + struct.pack("<I", masked(crc32c(lengths))) + "".join(texts).encode()
    actual = bundle(tmp_path, {b"s": entry(STRING, (3,), len(data))}, data)
    assert actual.read("s").array.tolist() == texts
    assert actual.read("s").element == element_types.string
    for size in (3, len(data) - 1):
        broken = bundle(tmp_path, {b"s": entry(STRING, (3,), size)}, data)
        with pytest.raises(ModelFileError, match="strings of 's'"):
            broken.read("s")
    huge = bundle(tmp_path, {b"s": entry(STRING, (1 << 40,), len(data))}, data)
    with pytest.raises(ModelFileError, match="fewer strings"):
        huge.read("s")


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({b"w": entry(FLOAT, (2, 3), 25)}, "truncated"),
        ({b"w": entry(FLOAT, (2, 3), 24, offset=1)}, "truncated"),
        ({b"w": entry(FLOAT, (2, 3), 20)}, "'w'"),
        ({b"w": entry(FLOAT, (1 << 40, 1 << 40), 24)}, "'w'"),
        ({b"w": entry(FLOAT, (-2, 3), 24)}, "impossible shape"),
        ({b"w": entry(FLOAT, (2, 3), -1)}, "damaged"),
        ({b"w": entry(FLOAT, (2, 3), 24, shard=5)}, "data file 5 of 1"),
        ({b"w": entry(99, (2, 3), 24)}, "'w'"),
        ({b"w": b"\xff\xff"}, "protobuf"),
        ({}, "no tensor 'w'"),
        ({b"w": entry(FLOAT, (2, 3), 0, slices=[[(0, 1), (0, 3)]])}, "slice of 'w' is missing"),
        ({b"w": entry(FLOAT, (2, 3), 0, slices=[[(0, 1)]])}, "another rank"),
        ({b"w": entry(FLOAT, (2, 3), 0, slices=[[(0, 9), (0, 3)]])}, "outside its shape"),
        (
            {b"w": entry(FLOAT, (2, 3), 0, slices=[[(0, 1), (0, 3)]]), slice_key(b"w", [(0, 1), (0, 3)]): entry(FLOAT, (1, 3), 12)},
            "are missing, or overlap",
        ),
        (
            {b"w": entry(FLOAT, (2, 3), 0, slices=[[(0, 1), (0, 3)]]), slice_key(b"w", [(0, 1), (0, 3)]): entry(FLOAT, (2, 3), 24)},
            "contradicts",
        ),
    ],
)
def test_damaged_bundles(tmp_path: Path, entries: dict[bytes, bytes], reason: str) -> None:
    actual = bundle(tmp_path, entries, ramp((2, 3)).tobytes())
    with pytest.raises(ModelFileError, match=re.escape(reason)):
        actual.read("w")


def test_slices_that_share_bytes_do_not_fill_the_memory(tmp_path: Path) -> None:
    extents = [[(number, 1), (0, 6)] for number in range(100)]
    entries = {slice_key(b"w", extent): entry(FLOAT, (1, 6), 24) for extent in extents}
    actual = bundle(tmp_path, {b"w": entry(FLOAT, (100, 6), 0, slices=extents), **entries}, ramp((2, 3)).tobytes())
    with pytest.raises(ModelFileError, match="overlap"):
        actual.read("w")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"endianness": 1}, "big-endian"),
        ({"shards": 0}, "claims 0 data files"),
        ({"version": message_class("VersionDef")(min_consumer=9)}, "version 9"),
    ],
)
def test_headers(tmp_path: Path, header: dict[str, int], reason: str) -> None:
    with pytest.raises(ModelFileError, match=reason):
        bundle(tmp_path, {}, b"", **header)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"none\.index"):
        Bundle(tmp_path / "none")
    actual = bundle(tmp_path, {b"w": entry(FLOAT, (1,), 4, shard=1)}, b"", shards=2)
    with pytest.raises(ModelFileError, match=r"m\.data-00001-of-00002: the data file of the checkpoint is missing"):
        actual.read("w")
    without_header = write(tmp_path, index({b"w": entry(FLOAT, (1,), 4)}))
    with pytest.raises(ModelFileError, match="no header"):
        Bundle(without_header.with_suffix(""))


def test_checkpoint_of_tensorflow() -> None:
    actual = Bundle(FIXTURES / "checkpoint" / "model")
    assert actual.keys() == ["bias", "rows", "untouched", "weights"]
    assert np.array_equal(actual.read("weights").array, ramp((4, 6)))
    assert np.array_equal(actual.read("rows").array, ramp((6, 3), 1.0))
    assert np.array_equal(actual.read("rows", [(3, 3), (0, 3)]).array, ramp((6, 3), 1.0)[3:])
    assert np.array_equal(actual.read("rows", [(2, 3), (1, -1)]).array, ramp((6, 3), 1.0)[2:5, 1:])
    with pytest.raises(ModelFileError, match="outside its shape"):
        actual.read("rows", [(4, 3), (0, 3)])


def test_object_graph_of_tensorflow() -> None:
    actual = Bundle(FIXTURES / "keras_3" / "variables" / "variables")
    graph = message_class("TrackableObjectGraph").FromString(actual.raw_string(OBJECT_GRAPH_KEY))
    names = {part.checkpoint_key for node in graph.nodes for part in node.attributes}
    assert "_all_variables/0/.ATTRIBUTES/VARIABLE_VALUE" in names
    with pytest.raises(ModelFileError, match="not one string"):
        actual.raw_string("_all_variables/0/.ATTRIBUTES/VARIABLE_VALUE")


def test_damage_gives_an_error_or_values(tmp_path: Path) -> None:
    """Bytes of the index changed or cut off: it is reported, or was in a part that means nothing."""
    source = FIXTURES / "checkpoint"
    shutil.copy(source / "model.data-00000-of-00001", tmp_path / "m.data-00000-of-00001")
    original = (source / "model.index").read_bytes()
    generator = random.Random(7)
    values = {key: Bundle(source / "model").read(key).array for key in ("bias", "rows", "untouched", "weights")}
    failures = 0
    for _ in range(150):
        content = bytearray(original)
        if generator.random() < 0.5:
            del content[generator.randrange(len(content)) :]
        else:
            content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        write(tmp_path, bytes(content))
        try:
            actual = Bundle(tmp_path / "m")
            assert all(np.array_equal(actual.read(key).array, value) for key, value in values.items())
        except ConversionError:
            failures += 1
    assert failures > 120
