"""Symbolic tensors: arrays whose elements are terms, given as a function of the index, and whose sizes may be symbols.

They are duck arrays of numpy: `compute` and `evaluate` of an operation run on them as they run on arrays, so that the
proof speaks of the definition that is tested. What only moves elements is in `index_maps`, sums are in `reductions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from moir.proofs.context import collecting, current, guarded, require
from moir.proofs.scalars import TRUTHS, Scalar, UnprovableError, alike, apply, definedness, literal
from moir.proofs.smt import z3
from moir.proofs.term_tables import TermTable

Size: TypeAlias = Any
"""A size: an integer of Python, or an integer term of z3."""

Index: TypeAlias = tuple[Any, ...]

MANY = 1 << 40
"""The number of elements that is assumed for a tensor with symbolic sizes, for code that asks whether it is empty."""

_BOOLEAN = np.dtype(bool)


ARRAY_FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions of numpy on symbolic tensors, by name; `evaluation` fills it."""


_SAME: TermTable[bool] = TermTable()


def is_same(a: Size, b: Size) -> bool:
    """Whether two sizes are certainly equal."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    known = _SAME.get(a, b)
    return _SAME.put(a is b or z3.is_true(z3.simplify(a == b)), a, b) if known is None else known


class Tensor:
    """A tensor of terms.

    Args:
        shape: its sizes.
        dtype: the type of its elements.
        at: the element at an index, which has an element for each dimension.
    """

    def __init__(self, shape: Sequence[Size], dtype: np.dtype[Any], at: Callable[[Index], Scalar]) -> None:
        self.shape: tuple[Size, ...] = tuple(shape)
        self.dtype = dtype
        self._at = at
        self._elements: TermTable[tuple[Scalar, dict[int, Any]]] = TermTable()
        """Elements, with the conditions under which they are defined, by their indices."""
        self.numbers: Any = None
        """The array of a constant of integers or truth values, None for other tensors: axes, orders and sizes."""

    @property
    def ndim(self) -> int:
        """The rank."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements; MANY if a size is a symbol."""
        return int(np.prod(list(self.shape))) if all(isinstance(size, int) for size in self.shape) else MANY

    def at(self, index: Index) -> Scalar:
        """The element at an index."""
        kept = self._elements.get(*index)
        if kept is None:
            with collecting() as required:
                element = self._at(index)
            kept = self._elements.put((element, required), *index)
        if kept[1]:
            current().required.update(kept[1])
        return kept[0]

    def astype(self, dtype: Any, copy: bool = True) -> Tensor:
        """The tensor itself: floating-point types differ only in rounding, which proofs over the reals ignore."""
        target = np.dtype(dtype)
        if _family(target) != _family(self.dtype):
            raise UnprovableError(f"{self.dtype} as {target} has no meaning in a proof")
        return Tensor(self.shape, target, self.at)

    def reshape(self, *shape: Any) -> Tensor:
        """The elements in their order in another shape; one of its sizes may be -1."""
        target = shape[0] if len(shape) == 1 and hasattr(shape[0], "__len__") else shape
        return ARRAY_FUNCTIONS["reshape"](self, target, False)

    def transpose(self, *order: Any) -> Tensor:
        """The tensor with its dimensions in another order."""
        entries = order[0] if len(order) == 1 and not isinstance(order[0], int) else order
        return ARRAY_FUNCTIONS["transpose"](self, list(entries or range(self.ndim)[::-1]))

    def swapaxes(self, a: int, b: int) -> Tensor:
        """The tensor with two dimensions exchanged."""
        return ARRAY_FUNCTIONS["swapaxes"](self, a, b)

    def take(self, indices: Any, axis: int) -> Tensor:
        """The elements at the indices of an array along an axis."""
        return ARRAY_FUNCTIONS["take"](self, indices, axis)

    def __getitem__(self, key: Any) -> Tensor:
        return ARRAY_FUNCTIONS["get_item"](self, key)

    def ravel(self) -> Any:
        """The elements of a tensor of static shape, in order, as an array of terms."""
        return terms_of(self).ravel()

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce":
            return ARRAY_FUNCTIONS["reduce"](ufunc.__name__, inputs[0], options.get("axis", 0), bool(options.get("keepdims")))
        if method != "__call__":
            return NotImplemented
        name = ufunc.__name__.removesuffix(" (vectorized)")  # as numpy.frompyfunc names its functions
        function = ARRAY_FUNCTIONS.get(name) if name == "matmul" else None
        return elementwise(name, *inputs) if function is None else function(*inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        implementation = ARRAY_FUNCTIONS.get(function.__name__)
        if implementation is None:
            raise UnprovableError(f"numpy.{function.__name__} has no meaning in a proof")
        return implementation(*arguments, **options)

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise UnprovableError("an operation needs the numbers of a tensor")

    def __bool__(self) -> bool:
        raise UnprovableError("an operation branches on the elements of a tensor")

    def _binary(name: str, *, reflected: bool = False) -> Any:  # pyright: ignore[reportGeneralTypeIssues, reportSelfClsParameterName]
        def method(self: Tensor, other: Any) -> Tensor:
            return elementwise(name, other, self) if reflected else elementwise(name, self, other)

        return method

    __add__, __radd__ = _binary("add"), _binary("add", reflected=True)
    __sub__, __rsub__ = _binary("subtract"), _binary("subtract", reflected=True)
    __mul__, __rmul__ = _binary("multiply"), _binary("multiply", reflected=True)
    __truediv__, __rtruediv__ = _binary("divide"), _binary("divide", reflected=True)
    __pow__ = _binary("power")
    __lt__, __le__, __gt__, __ge__ = _binary("less"), _binary("less_equal"), _binary("greater"), _binary("greater_equal")
    __eq__, __ne__ = _binary("equal"), _binary("not_equal")  # pyright: ignore[reportAssignmentType]
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __neg__(self) -> Tensor:
        return elementwise("negative", self)


class MovedTensor(Tensor):
    """A tensor of elements of another one, which keeps them: computing the index of an element costs less."""

    def at(self, index: Index) -> Scalar:
        return self._at(index)


def _family(dtype: np.dtype[Any]) -> str:
    return "f" if dtype.kind in "fV" else dtype.kind


def constant(array: Any, dtype: np.dtype[Any] | None = None) -> Tensor:
    """A tensor of an array of numbers; marked numbers are symbols."""
    values = np.asarray(array)
    dtype = values.dtype if dtype is None else dtype
    context = current()

    def element(number: Any) -> Scalar:
        return context.number(float(number)) if _family(dtype) == "f" else literal(number, dtype)

    def at(index: Index) -> Scalar:
        if all(isinstance(entry, int) for entry in index):
            return element(values[index])
        return _selected(values, index, element)

    tensor = Tensor(values.shape, dtype, at)
    tensor.numbers = values if dtype.kind in "biu" else None
    return tensor


def _selected(values: Any, index: Index, element: Callable[[Any], Scalar]) -> Scalar:
    """The element of an array at a symbolic index, as nested choices that compare the index with all possible ones.

    Args:
        values: the array.
        index: an integer or a term for each dimension.
        element: the term of an element of the array.

    Raises UnprovableError for an array without elements.
    """
    if not index:
        return element(values[()])
    first, rest = index[0], index[1:]
    if isinstance(first, int):
        return _selected(values[first], rest, element)
    if values.shape[0] == 0:
        raise UnprovableError("an element of a tensor without elements")
    result = _selected(values[-1], rest, element)
    for number in range(values.shape[0] - 2, -1, -1):
        result = z3.If(first == number, _selected(values[number], rest, element), result)
    return result


def terms_of(tensor: Tensor) -> Any:
    """The elements of a tensor of static shape, as an array of terms."""
    if not all(isinstance(size, int) for size in tensor.shape):
        raise UnprovableError("the elements of a tensor of dynamic size")
    array = np.empty(tensor.shape, object)
    for index in np.ndindex(*tensor.shape):
        array[index] = tensor.at(index)
    return array


def as_tensor(value: Any, like: np.dtype[Any]) -> Tensor:
    """An operand of a function of numpy as a tensor; numbers get the type of the tensor beside them."""
    if isinstance(value, Tensor):
        return value
    array = np.asarray(value)
    return constant(array, array.dtype if array.dtype.kind == "b" or isinstance(value, np.ndarray) else like)


def broadcast_size(a: Size, b: Size) -> Size:
    """The size to which two sizes broadcast; it becomes a requirement that they fit."""
    if is_same(a, b) or (isinstance(b, int) and b == 1):
        return a
    if isinstance(a, int) and a == 1:
        return b
    if isinstance(a, int) and isinstance(b, int):
        raise UnprovableError(f"{a} and {b} are not broadcast")
    fixed = a if isinstance(a, int) else b if isinstance(b, int) else None
    if fixed is not None:
        other = b if isinstance(a, int) else a
        require(z3.Or(other == 1, other == fixed))
        return fixed
    require(z3.Or(a == b, a == 1, b == 1))
    return z3.If(a == 1, b, a)


def broadcast_shape(*shapes: Sequence[Size]) -> tuple[Size, ...]:
    """The shape to which shapes broadcast, as in numpy; it becomes a requirement that they fit."""
    rank = max(map(len, shapes))
    result: list[Size] = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            result[axis] = broadcast_size(result[axis], size)
    return tuple(result)


def own_index(index: Index, shape: Sequence[Size], whole: Sequence[Size]) -> Index:
    """The index of the element of a tensor of shape `shape` that is broadcast to `index` of the shape `whole`."""
    entries: list[Any] = []
    lead = len(whole) - len(shape)
    for axis, size in enumerate(shape):
        entry, total = index[lead + axis], whole[lead + axis]
        if isinstance(size, int):
            entries.append(0 if size == 1 else entry)
        else:
            entries.append(entry if size is total or is_same(size, total) else z3.If(size == 1, 0, entry))
    return tuple(entries)


def broadcast_to(tensor: Tensor, shape: Sequence[Size]) -> Tensor:
    """A tensor broadcast to a shape."""
    return Tensor(shape, tensor.dtype, lambda index: tensor.at(own_index(index, tensor.shape, shape)))


def elementwise(name: str, *operands: Any) -> Tensor:
    """One of numpy's functions on elements that are broadcast."""
    like = next(each.dtype for each in operands if isinstance(each, Tensor))
    tensors = [as_tensor(each, like) for each in operands]
    shape = broadcast_shape(*(each.shape for each in tensors))
    truth = name in TRUTHS or name.startswith("logical_")

    def at(index: Index) -> Scalar:
        elements = [each.at(own_index(index, each.shape, shape)) for each in tensors]
        condition = definedness(name, elements)
        if condition is not None:
            require(condition)
        return apply(name, like, *elements)

    return Tensor(shape, _BOOLEAN if truth else like, at)


def select(condition: Any, then: Any, otherwise: Any) -> Tensor:
    """The elements of one tensor where a condition holds, and of another where it does not, as numpy.where."""
    like = next((each.dtype for each in (then, otherwise) if isinstance(each, Tensor)), None)
    like = np.asarray(then).dtype if like is None else like
    tensors = [as_tensor(condition, _BOOLEAN), as_tensor(then, like), as_tensor(otherwise, like)]
    shape = broadcast_shape(*(each.shape for each in tensors))

    def at(index: Index) -> Scalar:
        truth = tensors[0].at(own_index(index, tensors[0].shape, shape))
        values: list[Scalar] = []
        for each, guard in zip(tensors[1:], (truth, z3.Not(truth)), strict=True):
            with guarded(guard):
                values.append(each.at(own_index(index, each.shape, shape)))
        return z3.If(truth, *alike(values, tensors[1].dtype))

    return Tensor(shape, tensors[1].dtype, at)
