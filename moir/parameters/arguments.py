"""Checking the arguments of the functions of the Python interface.

    @checked(path=PATH, enable=NAMES)
    def convert_model(path: str | Path, *, enable: Sequence[str] = ()) -> ModuleOp: ...

A mistake in the arguments is an ArgumentError before anything is read. The signature of the function is that of the
decorated one, for `inspect` and type checkers, too.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from moir.errors import ArgumentError
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

if TYPE_CHECKING:
    import inspect

P = ParamSpec("P")
R = TypeVar("R")

_LONGEST_VALUE = 60
_SELF = "self"


def no_advice(value: object) -> None:
    """An empty hint, for arguments whose description is sufficient."""


class Expected(Record):
    """The expectation for an argument.

    Args:
        description: a noun clause, the end of "argument … must be …".
        accepts: the predicate.
        advice: the next step for a value that is not accepted, or None.
    """

    description: str
    accepts: Callable[[Any], bool]
    advice: Callable[[Any], str | None] = no_advice

    def or_none(self) -> Expected:
        """The same expectation, except that None is accepted, too."""
        return self.with_fields(description=f"{self.description} or None", accepts=self._accepts_or_none)

    def _accepts_or_none(self, value: object) -> bool:
        return value is None or self.accepts(value)


def checked(
    further: Callable[[], Mapping[str, Expected]] | None = None, /, **expected: Expected
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that checks arguments before each call.

    Args:
        further: function that says, at each call, which keywords the function takes besides its parameters, as
            `**keywords`, and the expectations for them; None if it takes no others.
        expected: the expectation for each argument.

    The function raises ArgumentError for arguments that are unknown, missing or not as expected.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        code = cast(Any, function).__code__
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        assert [name for name in parameters if name != _SELF] == list(expected)
        title = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def call(*positional: P.args, **named: P.kwargs) -> R:
            known = expected if further is None else {**further(), **expected}
            signature = _signature(function)
            given = _bound(title, signature, known, positional, named)
            for name, value in given.items():
                if not known[name].accepts(value):
                    others = [given[each] for each in list(given)[: len(positional)] if each != name]
                    raise _refused(title, signature, name, value, known[name], others)
            return function(*positional, **named)

        return call

    return decorate


@functools.cache
def _signature(function: Callable[..., object]) -> inspect.Signature:
    # `inspect` is imported at the first call: a command line that is wrong does not need it.
    import inspect

    return inspect.signature(function)


def _bound(
    function: str,
    signature: inspect.Signature,
    known: Mapping[str, Expected],
    positional: Sequence[object],
    named: Mapping[str, object],
) -> dict[str, object]:
    """The given arguments by name. Raises ArgumentError for arguments that the function does not have, and for missing
    ones.

    Args:
        function: the name of the function, for messages.
        signature: its signature.
        known: the expectations for its arguments, by name.
        positional: the positional arguments.
        named: the keyword arguments.
    """
    for name in named:
        if name not in known:
            otherwise = f"help(moir.{function}) lists what it takes"
            raise ArgumentError(f"{function} has no argument {name!r}", hint=did_you_mean(name, known, otherwise))
    try:
        given = signature.bind(*positional, **named).arguments
        return {**{name: value for name, value in given.items() if name in known}, **named}
    except TypeError as error:
        raise ArgumentError(f"{function}: {error}", hint=f"it is {_call(function, signature)}") from None


def _refused(
    function: str, signature: inspect.Signature, name: str, value: object, expected: Expected, others: Iterable[object]
) -> ArgumentError:
    hint = expected.advice(value)
    if any(map(expected.accepts, others)):
        hint = f"the order is {_call(function, signature)}"
    return ArgumentError(f"argument {name} of {function} must be {expected.description}, not {shown(value)}", hint=hint)


def _call(function: str, signature: inspect.Signature) -> str:
    """A call of a function with its positional arguments, for messages: `save_model(module, path, …)`."""
    parameters = [each for name, each in signature.parameters.items() if name != _SELF]
    names = [each.name for each in parameters if each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD)]
    has_keywords = len(names) < len(parameters)
    return f"{function}({', '.join([*names, *(['name=value, …'] if has_keywords else [])])})"


def shown(value: object) -> str:
    """A value as a short text for a message, with its type."""
    if value is None or isinstance(value, type):
        return repr(value)
    text = repr(value)
    if text.startswith("<") or "\n" in text:
        return f"a value of type {type(value).__name__}"
    return f"the {type(value).__name__} {text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + '…'}"


def elements(value: object) -> list[Any] | None:
    """The elements of a sequence as a list; None for a text, and for any other value that is not a sequence."""
    return list(cast("Sequence[Any]", value)) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else None


def list_of(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A predicate that is true for sequences all of whose elements fulfil `accepts`."""
    return lambda value: (listed := elements(value)) is not None and all(map(accepts, listed))


def advice_on_instances(accepts: Callable[[Any], bool]) -> Callable[[Any], str | None]:
    """A function that returns advice for a value that is not a list of instances that `accepts` accepts.

    There is advice for a class in the list, and for an instance that is not in a list; None for other values.
    """

    def advice(value: object) -> str | None:
        for each in elements(value) or [value]:
            if isinstance(each, type):
                return f"{each.__name__} is a class, make an instance: {each.__name__}()"
        return f"write [{type(value).__name__}()]" if accepts(value) else None

    return advice


# What arguments can be.


def _is_path(value: object) -> bool:
    # No file has a NUL in its name, and the operating system does not take one.
    return isinstance(value, str | os.PathLike) and "\0" not in os.fsdecode(cast("str | os.PathLike[str]", value))


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, Mapping) and all(_is_text(each) for pair in cast("Mapping[Any, Any]", value).items() for each in pair)


def _is_layout_change(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and value in ("auto", "none"))


def _is_target(value: object) -> bool:
    from moir.targets.registry import TARGETS

    return value in TARGETS.values() or (isinstance(value, str) and value in TARGETS)


def _is_module(value: object) -> bool:
    from xdsl.dialects.builtin import ModuleOp

    return isinstance(value, ModuleOp)


def _is_pass(value: object) -> bool:
    from moir.support.xdsl_passes import ModulePass

    return isinstance(value, str | ModulePass)


def _are_passes(value: object) -> bool:
    # Of an iterator, the elements cannot be looked at yet.
    return isinstance(value, str) or (isinstance(value, Iterable) and not isinstance(value, bytes | Sequence)) or list_of(_is_pass)(value)


_WRITERS: Mapping[str, str] = {"torch": "torch.onnx.export(model, inputs, 'model.onnx')"}
"""Package of the class of a model in memory -> how a user writes such a model to a file, if moir cannot write it."""


def _advice_on_paths(value: object) -> str | None:
    package = type(value).__module__.partition(".")[0]
    return f"write the model to a file first, with {_WRITERS[package]}" if package in _WRITERS else None


def _advice_on_lists(value: object) -> str | None:
    return f"write [{value!r}]" if isinstance(value, str) else None


def _advice_on_layouts(value: object) -> str | None:
    return did_you_mean(value, ("auto", "none")) if isinstance(value, str) else None


def _advice_on_modules(value: object) -> str | None:
    return f"convert it first: moir.convert_model({str(cast(object, value))!r})" if isinstance(value, str | os.PathLike) else None


PATH = Expected("a path (str or pathlib.Path)", _is_path, _advice_on_paths)
PATHS = Expected("a path or a name, or a list of them (str or pathlib.Path)", lambda value: _is_path(value) or list_of(_is_path)(value))
NAME = Expected("a name (str)", _is_text)
NAMES = Expected("a list of names (str)", list_of(_is_text), _advice_on_lists)
TEXTS = Expected("a mapping of names to texts (str)", _are_texts)
FLAG = Expected("True or False", lambda value: isinstance(value, bool))
LAYOUT_CHANGE = Expected("'auto', 'none', True or False", _is_layout_change, _advice_on_layouts)
TARGET = Expected("the name of a target: 'openvino-cpu' or 'none'", _is_target)
EXTENSION_LAYOUT = Expected("'model-optimizer' or 'framework'", lambda value: value in ("model-optimizer", "framework"))
MODULE = Expected("a module, as convert_model returns it", _is_module, _advice_on_modules)
PASSES = Expected("a pipeline as text, or a list of such texts and of passes", _are_passes, advice_on_instances(_is_pass))
