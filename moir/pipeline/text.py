"""Pass pipelines as text: names of passes separated by commas, with options in braces.

The name `default` stands for the default pipeline, or a part of it:

    lower-onnx,fold-constants{static-shape=true}
    builtin.module(lower-onnx,fold-constants)
    default                             the pipeline that `moir` runs
    default{compress-to-fp16=true}
    default{layout-change=none}
    default{after=005-fold-constants}    the passes after the one that `--dump-ir` numbers 005; also `after=5`
    default{after=check-lowered}        the same, by the name of a pass that occurs once
    none                                no passes: the model as it was read
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from moir.errors import ArgumentError, UsageError
from moir.options import ConversionOptions
from moir.parameters import CONVERSION_PARAMETERS
from moir.parameters.arguments import PASSES
from moir.parameters.parameter import Parameter
from moir.pipeline import (
    LoadedExtensions,
    build_pass,
    default_pipeline,
    is_pass,
    load_pass,
    pass_names,
    refuse_unknown_options,
    unknown_pass,
)
from moir.support.records import Record
from moir.support.suggestions import alternatives, did_you_mean

if TYPE_CHECKING:
    from xdsl.passes import ModulePass
    from xdsl.utils.arg_spec import ArgSpec

DEFAULT, NONE = "default", "none"
_AFTER = "after"
_LISTED = "`moir passes` lists its passes"


class Pipeline(Record):
    """A pipeline parsed from text.

    The passes of `default` are determined later, because they depend on the framework of the model and on extensions.
    """

    specs: tuple[ArgSpec, ...]
    extensions: LoadedExtensions | None = None

    @staticmethod
    def parse(text: str, extensions: LoadedExtensions | None = None) -> Pipeline:
        """Parse a pipeline. Raises UsageError for a syntax error, and an unknown pass or option of `default`."""
        from xdsl.utils.arg_spec import parse_pipeline
        from xdsl.utils.exceptions import ArgSpecParseError

        inner = re.fullmatch(r"\s*builtin\.module\((.*)\)\s*", text, re.DOTALL)
        text = re.sub(r"\s*,\s*(?![^{]*\})", ",", (inner[1] if inner else text).strip())
        try:
            specs = tuple(parse_pipeline(text))
        except ArgSpecParseError as error:
            position = str(error).splitlines()
            raise UsageError(f"the pipeline {text!r} cannot be read: {position[-1].strip()}") from error
        for spec in specs:
            if spec.name == DEFAULT:
                refuse_unknown_options(spec, (_AFTER, *(each.name for each in CONVERSION_PARAMETERS)))
            elif spec.name == NONE:
                refuse_unknown_options(spec, ())
            elif not is_pass(spec.name) and not (extensions is not None and extensions.has(spec.name)):
                raise unknown_pass(spec.name, [DEFAULT, NONE, *pass_names(), *(extensions.names() if extensions is not None else ())])
            else:
                _build(spec, extensions)
        return Pipeline(specs, extensions)

    def passes(self, framework: str, options: ConversionOptions) -> list[ModulePass]:
        """New instances of the passes, for a model of a framework."""
        return [each for spec in self.specs for each in self._expand(spec, framework, options)]

    def first_number(self, framework: str) -> int:
        """The number of the first pass: its number in the default pipeline if this is the rest of that pipeline, else
        1.
        """
        if len(self.specs) == 1 and self.specs[0].name == DEFAULT and "after" in self.specs[0].parameters:
            return self._rest(self.specs[0], framework, ConversionOptions())[1] + 1
        return 1

    def _expand(self, spec: ArgSpec, framework: str, options: ConversionOptions) -> list[ModulePass]:
        if spec.name == NONE:
            return []
        return self._rest(spec, framework, options)[0] if spec.name == DEFAULT else [_build(spec, self.extensions)]

    def _rest(self, spec: ArgSpec, framework: str, options: ConversionOptions) -> tuple[list[ModulePass], int]:
        """The passes of `default` with its options, and how many of them its option `after` skips."""
        for each in CONVERSION_PARAMETERS:
            name = next((option for option in spec.parameters if option.replace("-", "_") == each.name), None)
            if name is not None:
                options = options.with_value(each, _value(each, name, spec.parameters[name]))
        passes = default_pipeline(framework, options, self.extensions)
        if _AFTER not in spec.parameters:
            return passes, 0
        count = _position(str(_single(spec, _AFTER)), [each.name for each in passes])
        return passes[count:], count


def expanded(
    passes: str | Iterable[str | ModulePass], framework: str, options: ConversionOptions, extensions: LoadedExtensions | None = None
) -> list[ModulePass]:
    """The passes of a pipeline as text, or of a list of such texts and of passes, for a model of a framework.

    Raises UsageError for a mistake in a text, ArgumentError for an element that is neither a text nor a pass.
    """
    from moir.support.xdsl_passes import ModulePass

    expanded_passes: list[ModulePass] = []
    for each in [passes] if isinstance(passes, str) else passes:
        if isinstance(each, str):
            expanded_passes += Pipeline.parse(each, extensions).passes(framework, options)
        elif isinstance(cast(object, each), ModulePass):
            expanded_passes.append(each)
        else:
            raise ArgumentError(f"{each!r} is neither the name of a pass nor a pass", hint=PASSES.advice(each))
    return expanded_passes


def _value(parameter: Parameter[Any], option: str, text: Sequence[object]) -> Any:
    """The value of an option of `default`, from the values `text` in the pipeline.

    Raises UsageError for an invalid value.
    """
    kind = parameter.kind
    words = ("true", "false") if kind.is_flag else kind.choices
    try:
        if kind.is_flag and text in ((), (True,), (False,)):
            return text != (False,)
        if kind.is_flag or not text:
            raise ValueError("it has no value")
        return kind.of_text(",".join(map(str, text)))
    except ValueError as error:
        reason = f"is {alternatives(words)}" if words else f"cannot be read: {error}"
        raise UsageError(f"option {option} of 'default' {reason}") from None


def _single(spec: ArgSpec, option: str) -> object:
    values = cast("tuple[object, ...]", spec.parameters[option])
    if len(values) != 1:
        raise UsageError(f"option {option} of {spec.name!r} has one value")
    return values[0]


def _position(after: str, names: list[str]) -> int:
    """The number of passes up to and including the pass that `after` names: as `5`, `005-fold-constants` or
    `check-lowered`.
    """
    if match := re.fullmatch(r"(\d{1,4})(?:-(.+))?", after):
        number, name = int(match[1]), match[2]
        if number > len(names) or (name and number and names[number - 1] != name):
            numbered = [f"{index:03}-{each}" for index, each in enumerate(("import", *names))]
            same = [each for each in numbered if each.partition("-")[2] == name]
            raise UsageError(f"the default pipeline has no pass {after}", hint=did_you_mean(after, same or numbered, _LISTED))
        return number
    # The import is not a pass, but --dump-ir writes a file for it, with the number 0.
    positions = [index for index, name in enumerate(("import", *names)) if name == after]
    if len(positions) > 1:
        forms = alternatives(f"{number:03}-{after}" for number in positions)
        raise UsageError(f"{after!r} occurs {len(positions)} times in the default pipeline", hint=f"say {forms}")
    if not positions:
        hint = f"this conversion does without it; {_LISTED}" if is_pass(after) else did_you_mean(after, names, _LISTED)
        raise UsageError(f"{after!r} is not a pass of the default pipeline", hint=hint)
    return positions[0]


def _build(spec: ArgSpec, extensions: LoadedExtensions | None) -> ModulePass:
    if extensions is not None and extensions.has(spec.name):
        return extensions.build(spec)
    return build_pass(load_pass(spec.name), spec)
