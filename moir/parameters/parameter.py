"""A record of the table of conversion parameters: name, kind of value, help, and the passes that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from moir.parameters.arguments import Expected
from moir.support.records import Record

T = TypeVar("T")
K = TypeVar("K")

Plain: TypeAlias = bool | int | float | str | list[str]
"""The type of values in a configuration file."""

FieldValue: TypeAlias = bool | int | float | str | tuple[str, ...]
"""The type of values of a pass's fields, which can be written in a pipeline."""


class Kind(Record, Generic[K]):
    """A kind of values: their notations, and how these are read.

    Args:
        expected: what `convert_model` and a file of a configuration accept.
        of_python: converts an accepted object to the value.
        of_text: converts a text of the command line to the value. Raises ValueError or UsageError for an invalid text.
        plain: the form in which a file of a configuration holds a value; `of_python` reads it.
        is_flag: whether the option of the command line has no value: it stands for `switched`.
        switched: the value that the option of a flag stands for.
        choices: all texts that a command line accepts, if they can be listed.
        is_private: whether values are paths, of which records of a conversion keep only the last component.
    """

    expected: Expected
    of_python: Callable[[Any], K]
    of_text: Callable[[str], K]
    plain: Callable[[K], Plain]
    is_flag: bool = False
    switched: bool = True
    choices: tuple[str, ...] = ()
    is_private: bool = False


class Options(Protocol):
    """The values of all parameters, as `ConversionOptions` holds them."""

    def __getitem__(self, parameter: Parameter[T], /) -> T:
        """The value of a parameter."""
        ...


PassOptions: TypeAlias = Callable[[Options], Mapping[str, FieldValue] | None]
"""A function that returns the fields of a pass, by name, for the options of a conversion; None if the pass does not
run.
"""


class PassRequest(Record):
    """A pass of the default pipeline that runs only if parameters ask for it, or whose fields depend on parameters.

    Its position in the pipeline is that of its name in the tuples of `moir.pipeline`.

    Args:
        name: the name of the pass.
        field: the field of the pass that gets the value of the parameter, in its plain form; empty if there is none.
        options: the fields of the pass, see `PassOptions`, where they depend on several parameters. By default, the
            pass runs if the parameter is not at its default.
    """

    name: str
    field: str = ""
    options: PassOptions | None = None


def no_notes(_: object) -> Sequence[str]:
    """An empty list of notes, for parameters without notes."""
    return ()


class Parameter(Record, Generic[T]):
    """A parameter of a conversion.

    The command line has `--the-name`, and `--the_name` as Model Optimizer spelled it.

    Args:
        name: keyword of `convert_model`, key in a file of a configuration and in the runtime information of the IR.
        kind: the kind of its values.
        default: the value if none is given.
        help: the help text of the command line, which is also the text in `docs/options.md`.
        in_python: the text in the docstring of `convert_model` in place of the help text, if the value has other forms
            in Python.
        metavar: placeholder of the value in the help text.
        option: moir's spelling of the option, if that is not the name with dashes.
        former: further spellings of the option: of one letter, and those of Model Optimizer.
        group: the heading in the help text; empty for the first group.
        excludes: the names of parameters that cannot be given together with it.
        synonym_of: the names of the parameters that say the same, of a parameter that other tools have: it is accepted,
            but neither in the signature of `convert_model` nor in help and completion.
        passes: its requests for passes of the pipeline. Parameters that ask for one pass together have the same object.
        notes: notes for the user on a value.
    """

    name: str
    kind: Kind[T]
    default: T
    help: str
    metavar: str = ""
    option: str = ""
    former: tuple[str, ...] = ()
    group: str = ""
    excludes: tuple[str, ...] = ()
    in_python: str = ""
    synonym_of: tuple[str, ...] = ()
    passes: tuple[PassRequest, ...] = ()
    notes: Callable[[T], Sequence[str]] = no_notes

    def __eq__(self, other: object) -> bool:
        # Compared by identity: parameters are singletons, and keys of dictionaries.
        return self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def flag(self) -> str:
        """The option of the command line, in moir's spelling."""
        return self.option or f"--{self.name.replace('_', '-')}"

    @property
    def flags(self) -> tuple[str, ...]:
        """The options that help shows: moir's spelling, and those of one letter."""
        return (self.flag, *(each for each in self.former if len(each) == 2))

    @property
    def spellings(self) -> tuple[str, ...]:
        """The further spellings of the option: with underscores, and those of Model Optimizer."""
        underscored = (f"--{self.flag[2:].replace('-', '_')}", *(each for each in self.former if len(each) > 2))
        return tuple(each for each in dict.fromkeys(underscored) if each != self.flag)

    def recorded(self, value: T) -> str:
        """A value as a text for the runtime information of the IR. Only the last component of a path is recorded."""
        plain = cast("object", self.kind.plain(value))
        parts = cast("list[object]", plain) if isinstance(plain, list) else [plain]
        return ",".join(PurePath(str(each)).name if self.kind.is_private else str(each) for each in parts)
