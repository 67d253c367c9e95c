"""Pickled tensors, as `torch.save` writes them: a record -> tensors as views of the mapped file; nothing is imported.

    archive/data.pkl   {"fc.weight": _rebuild_tensor_v2(storage 0, offset, sizes, strides, …)}
    archive/data/0     the bytes of storage 0

A pickle names functions and classes to call. This reader knows a fixed list of names, each of which stands for a
function here that builds a description; any other name is refused by that name and never imported.

Source: torch/serialization.py, torch/_utils.py and torch/_tensor.py of PyTorch 2.9.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from io import BytesIO
from typing import Any, NamedTuple, NoReturn, cast

from xdsl.ir import Attribute

from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.frontends.pytorch.archive import Archive
from moir.frontends.pytorch.storages import DTYPES, STORAGES
from moir.frontends.strided_tensors import tensor_over

LARGEST_PICKLE = 1 << 28
"""Largest size in bytes of a pickle, which does not contain the elements of tensors."""

SUBCLASSES = frozenset(
    (
        "torchao.quantization.IntxUnpackedToInt8Tensor",
        "torchao.quantization.Int8Tensor",
        "torchao.quantization.Float8Tensor",
        "torchao.quantization.Int4Tensor",
        "torchao.dtypes.affine_quantized_tensor.AffineQuantizedTensor",
        "torchao.quantization.linear_activation_quantized_tensor.LinearActivationQuantizedTensor",
    )
)
"""The subclasses of tensors whose inner tensors a program reads; the classes themselves are never imported."""

SETTINGS = frozenset(
    (
        "torchao.quantization.quantize_.workflows.int8.int8_tensor.QuantizeTensorToInt8Kwargs",
        "torchao.quantization.quantize_.common.kernel_preference.KernelPreference",
        "torchao.quantization.quant_primitives.MappingType",
        *(f"torchao.quantization.granularity.{name}" for name in ("PerRow", "PerTensor", "PerToken", "PerAxis", "PerGroup")),
    )
)
"""Classes of settings of quantized tensors. The unpickler replaces them by placeholders; the program's nodes have the
settings.
"""


class Subclass(NamedTuple):
    """A tensor of a subclass: its name, and its inner tensors and parameters by their names."""

    name: str
    parts: dict[str, Any]


class _Name(NamedTuple):
    """A name in a pickle (of an element type or a class) that is kept as text and never imported."""

    name: str


class _Setting:
    """Stands in for an object of the exporter's settings in a pickle; its content is discarded."""

    def __init__(self, *_arguments: object) -> None:
        pass

    def __setstate__(self, _state: object) -> None:
        pass


class _Storage(NamedTuple):
    """A storage: its bytes, and its element type; None for an untyped storage."""

    content: memoryview
    element: Attribute | None


def read_pickled(archive: Archive) -> object:
    """The object in an archive that `torch.save` wrote: tensors, subclasses of them, and dicts of both.

    Raises ModelFileError for a pickle that names anything else, or is damaged.
    """
    roots = [name for name in archive.names if name.rpartition("/")[2] == "data.pkl"]
    if len(roots) != 1:
        raise archive.error("no pickle of tensors: there is no data.pkl in it")
    root = roots[0].rpartition("/")[0]
    prefix = f"{root}/" if root else ""
    order = f"{prefix}byteorder"
    if order in archive and bytes(archive.record(order)).strip() not in (b"little", b""):
        raise archive.error("its numbers are big-endian", hint="save it on a little-endian machine")
    content = archive.record(roots[0])
    if len(content) > LARGEST_PICKLE:
        raise archive.error(f"a pickle of more than {LARGEST_PICKLE >> 20} MB")
    try:
        return _TensorUnpickler(archive, prefix, bytes(content)).load()
    except ModelFileError:
        raise
    except Exception as error:
        raise archive.error(f"a damaged pickle: {error or type(error).__name__}") from None


class _TensorUnpickler(pickle.Unpickler):
    """Reads a pickle whose global names are replaced by the functions of this file."""

    def __init__(self, archive: Archive, prefix: str, content: bytes) -> None:
        super().__init__(BytesIO(content))
        self._archive = archive
        self._prefix = prefix

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        name = f"{module_name}.{global_name}"
        if (function := _FUNCTIONS.get(name)) is not None:
            return function
        kind = name.removeprefix("torch.")
        if name.startswith("torch.") and (kind in DTYPES or kind in STORAGES or kind in _OTHER_TYPES):
            return _Name(kind)
        if name in SUBCLASSES:
            return _Name(name)
        if name in SETTINGS:
            return _Setting
        return self._refuse(f"the pickle names {name}, which is not a tensor; nothing of it is executed")

    def persistent_load(self, pid: Any, /) -> Any:
        if not isinstance(pid, tuple) or len(cast("tuple[object, ...]", pid)) < 5:
            self._refuse("a persistent id that is not a storage")
        kind, type_, key = cast("tuple[object, ...]", pid)[:3]
        if kind != "storage" or not isinstance(type_, _Name) or not isinstance(key, str):
            self._refuse("a persistent id that is not a storage")
        return _Storage(self._archive.record(f"{self._prefix}data/{key}"), STORAGES.get(type_.name))

    def _refuse(self, reason: str) -> NoReturn:
        raise self._archive.error(reason, hint="export the program with plain tensors, or with its weights in safetensors")


_OTHER_TYPES = frozenset(
    ("UntypedStorage", "storage.UntypedStorage", "int4", "uint4", "int2", "uint2", "int1", "uint1", "int3", "uint3", "strided")
)
"""Types that are kept as names, besides those of `DTYPES` and `STORAGES`."""


def _tensor(storage: object, offset: object, sizes: Any, strides: Any, *_others: object) -> DataAttr:
    """The tensor that torch._utils._rebuild_tensor_v2 makes. Raises ValueError if the storage has no element type."""
    if not isinstance(storage, _Storage) or storage.element is None or not isinstance(offset, int):
        raise ValueError("a tensor without a storage of its element type")
    return tensor_over(storage.content, storage.element, [int(size) for size in sizes], [int(stride) for stride in strides], offset)


def _typed_tensor(storage: object, offset: object, sizes: Any, strides: Any, *others: object) -> DataAttr:
    """The tensor that torch._utils._rebuild_tensor_v3 makes of an untyped storage; one of `others` is the element type.

    Raises ValueError if none of them is.
    """
    names = [each.name for each in others if isinstance(each, _Name) and each.name in DTYPES]
    if not isinstance(storage, _Storage) or not names:
        raise ValueError("a tensor without a storage of its element type")
    return _tensor(_Storage(storage.content, DTYPES[names[0]]), offset, sizes, strides)


def _first(value: object, *_others: object) -> object:
    """The tensor of a parameter, in place of calling torch._utils._rebuild_parameter, whose first argument it is."""
    return value


def _pairs(*items: Any) -> dict[Any, Any]:
    """A dictionary of (key, value) pairs, in place of a collections.OrderedDict of them."""
    return dict(*items)


def _nothing(*_arguments: object) -> None:
    """None, in place of the device or the memory layout of a tensor, neither of which is used."""


def _subclass(_function: object, kind: object, _arguments: object, state: object) -> Subclass:
    """The description of a tensor of a subclass, in place of calling torch._tensor._rebuild_from_type_v2.

    `kind` is the subclass, `state` the attributes of the tensor.
    """
    if not isinstance(kind, _Name) or not isinstance(state, Mapping):
        raise ValueError("a subclass of tensors without its parts")
    return Subclass(kind.name, {str(name): part for name, part in cast("Mapping[object, Any]", state).items()})


_FUNCTIONS: Mapping[str, Any] = {
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _typed_tensor,
    "torch._utils._rebuild_parameter": _first,
    "torch._tensor._rebuild_from_type_v2": _subclass,
    "torch._utils._rebuild_wrapper_subclass": _nothing,
    "torch.serialization._get_layout": _nothing,
    "torch.device": _nothing,
    "torch.Size": _first,
    "collections.OrderedDict": _pairs,
}
"""The functions and types for the names in pickles."""
