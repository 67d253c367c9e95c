"""The options of a conversion: a value for each parameter, from the command line or `convert_model`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from moir.errors import UsageError
from moir.parameters import parameter_named, parameters, pass_requests, requesting
from moir.parameters.extension import DETECTION, DISABLE, ENABLE, EXTENSIONS, TRANSFORMATIONS_CONFIG
from moir.parameters.parameter import FieldValue, Parameter, Plain
from moir.parameters.reading import reading_parameters

ENABLED_VARIABLE, DISABLED_VARIABLE = "MO_ENABLED_TRANSFORMS", "MO_DISABLED_TRANSFORMS"
"""The environment variables that switch transformations on and off."""

NO_TOKENIZERS = "False"
"""The value of the conversion parameter `tokenizers` that a model records if operations of OpenVINO Tokenizers are
excluded.
"""

_OF_EXTENSIONS: tuple[Parameter[Any], ...] = (EXTENSIONS, TRANSFORMATIONS_CONFIG, ENABLE, DISABLE)

T = TypeVar("T")


class ConversionOptions:
    """The values of all parameters: `options[COMPRESS_TO_FP16]`.

    Args:
        given: values by the names of their parameters, as `convert_model` takes them; the others are at their defaults.

    Raises ArgumentError for a name that no parameter has.
    """

    def __init__(self, **given: object) -> None:
        values = ((parameter_named(name), value) for name, value in given.items())
        self._values: dict[Parameter[Any], Any] = {each: each.kind.of_python(value) for each, value in values}

    @classmethod
    def of_values(cls, values: Mapping[Parameter[Any], object]) -> ConversionOptions:
        """The options with these values, the others at their defaults."""
        options = cls()
        options._values = dict(values)
        return options

    def __reduce__(self) -> tuple[Any, ...]:
        # Parameters are compared by identity, which pickling does not keep, so names are pickled.
        return _of_plain, ({each.name: each.kind.plain(value) for each, value in self.given.items()},)

    def __getitem__(self, parameter: Parameter[T]) -> T:
        return cast("T", self._values.get(parameter, parameter.default))

    def with_value(self, parameter: Parameter[T], value: T) -> ConversionOptions:
        """The same options with another value of one parameter."""
        return self.of_values({**self._values, parameter: value})

    @property
    def given(self) -> Mapping[Parameter[Any], Any]:
        """The values that are not at their defaults, in the order of the table."""
        if not self._values:
            return {}
        return {each: self[each] for each in parameters() if self[each] != each.default}

    def check(self) -> None:
        """Raises UsageError if parameters are given that exclude each other."""
        given = {each.name: each for each in self.given}
        for each in given.values():
            for other in each.excludes:
                if other in given:
                    raise UsageError(f"{each.name} and {other} exclude each other", hint="leave one of them out")

    @property
    def notes(self) -> list[str]:
        """Notes for the user about the values."""
        return [note for each, value in self.given.items() for note in each.notes(value)]

    @property
    def reading(self) -> Mapping[str, object]:
        """The options that are arguments of the framework's reader and have values, by option name."""
        return {each.name: value for each in reading_parameters() if (value := self[each]) is not None}

    @property
    def needs_extensions(self) -> bool:
        """Whether options or the environment name extensions, transformations to enable or disable, or detection."""
        named = any(self[each] for each in _OF_EXTENSIONS) or self[DETECTION] == "output"
        return named or any(map(os.environ.get, (ENABLED_VARIABLE, DISABLED_VARIABLE)))

    def pass_options(self, name: str) -> Mapping[str, FieldValue] | None:
        """The values that options give to the fields of a pass; None if the pass does not run, because no parameter
        requests it.
        """
        request = pass_requests().get(name)
        if request is None:
            return {}
        if request.options is not None:
            return request.options(self)
        asking = [each for each in requesting(name) if self[each] != each.default]
        if not asking:
            return None
        return {request.field: _field(asking[0].kind.plain(self[asking[0]]))} if request.field else {}

    def parameters(self, path: str | Path) -> dict[str, object]:
        """The options that extensions find in `graph.graph["cmd_params"]` when the model file `path` is converted.

        Options that are not given are left out, except switches: Model Optimizer has None for them.
        """
        given = self.given
        chosen = [each for each in parameters() if each not in _OF_EXTENSIONS and (isinstance(self[each], bool) or each in given)]
        return {"input_model": str(path), **{each.name: self._as_text(each) for each in chosen}}

    def _as_text(self, parameter: Parameter[Any]) -> object:
        """A value in the form of Model Optimizer's command line: a switch, a number or a text; for readers, also a
        list.
        """
        value = self[parameter]
        plain = value if isinstance(value, bool) else parameter.kind.plain(value)
        return ",".join(plain) if isinstance(plain, list) and parameter not in reading_parameters() else plain

    def recorded(self) -> Mapping[str, str]:
        """The options that are not at their defaults, as texts for the runtime information of the IR.

        Paths are reduced to their last component, because folders are private.
        """
        return {each.name: each.recorded(value) for each, value in self.given.items()}


def _of_plain(values: Mapping[str, Plain]) -> ConversionOptions:
    return ConversionOptions(**values)


def _field(plain: Plain) -> FieldValue:
    return tuple(plain) if isinstance(plain, list) else plain
