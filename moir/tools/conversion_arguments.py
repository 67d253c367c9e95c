"""Arguments that the command lines share: the parameters of a conversion, and their `ConversionOptions`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from moir.errors import UsageError
from moir.files.remote.addresses import is_address, shown
from moir.options import ConversionOptions
from moir.parameters import CONVERSION_PARAMETERS
from moir.parameters.extension import EXTENSION_PARAMETERS
from moir.parameters.parameter import Parameter
from moir.parameters.reading import reading_parameters
from moir.tools.argument_parser import ArgumentParser
from moir.tools.streams import STANDARD


def add_dump_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--dump-ir`."""
    help_text = "write the module after each pass that changes it, weights included, to a folder"
    parser.add_argument("--dump-ir", metavar="DIR", type=_folder, help=help_text)


def _folder(text: str) -> str:
    if text == STANDARD or is_address(text):
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a folder{' of this machine' if is_address(text) else ''}")
    return text


def add_parameters(parser: ArgumentParser, chosen: Iterable[Parameter[Any]]) -> None:
    """Add an option for each parameter, in an argument group for each group of parameters.

    Help and completion do not show synonyms. A parameter that is not given is None. The parameters are listed in
    `offered`, because `moir-opt` has other options of such names, too.
    """
    groups: dict[str, Any] = {"": parser}
    chosen = tuple(chosen)
    parser.set_defaults(offered=(*(parser.get_default("offered") or ()), *chosen))
    for each in chosen:
        if each.group not in groups:
            groups[each.group] = parser.add_argument_group(each.group)
        value: dict[str, Any] = {"metavar": each.metavar or None, "choices": each.kind.choices or None}
        form = {"action": "store_const", "const": each.kind.switched} if each.kind.is_flag else value
        text = argparse.SUPPRESS if each.synonym_of else each.help.replace("%", "%%")
        groups[each.group].add_argument(*each.flags, dest=each.name, help=text, **form)
        parser.spellings.update(dict.fromkeys(each.spellings, each.flag))
        if each.kind.is_flag and each.kind.switched:
            parser.switches[each.flag] = each.name


def add_conversion_arguments(parser: ArgumentParser) -> None:
    """Add the parameters of the conversion itself."""
    add_parameters(parser, CONVERSION_PARAMETERS)


def add_reading_arguments(parser: ArgumentParser) -> None:
    """Add the options of each framework's reader."""
    add_parameters(parser, reading_parameters())


def add_extension_arguments(parser: ArgumentParser) -> None:
    """Add `--extensions`, `--transformations-config`, `--enable` and `--disable`."""
    add_parameters(parser, EXTENSION_PARAMETERS)


def add_model_arguments(parser: ArgumentParser) -> None:
    """Add the options of readers and of extensions, and `--debug`, which are the last options of each command that
    reads a model.
    """
    add_reading_arguments(parser)
    add_extension_arguments(parser)
    parser.add_debug_argument()


def add_input_arguments(parser: ArgumentParser) -> None:
    """Add `--inputs` and `--seed`: the inputs of a command that runs a model."""
    parser.add_argument("--inputs", metavar="FILE", help=".npz with an array for each input, by its name (default: random ones)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of random inputs (default: 0)")
    parser.add_argument(
        "--ranges",
        metavar="NAME=LOW..HIGH[,…]",
        type=number_ranges,
        default={},
        help="least and greatest number of random inputs (default: by use; for an index what its table has)",
    )


def number_ranges(text: str) -> dict[str, tuple[float, float]]:
    """The value of `--ranges`: the least and the greatest number for inputs, by name.

    Raises ArgumentTypeError for a text of another form.
    """
    ranges: dict[str, tuple[float, float]] = {}
    for item in filter(None, text.split(",")):
        name, equals, limits = item.rpartition("=")
        low, dots, high = limits.partition("..")
        try:
            ranges[name.strip()] = float(low), float(high if dots else low)
        except ValueError:
            equals = ""
        if not equals or not name.strip() or not ranges[name.strip()][0] <= ranges[name.strip()][1]:
            raise argparse.ArgumentTypeError(f"{item!r} is not NAME=LOW..HIGH, such as ids=0..100")
    return ranges


def conversion_options(arguments: argparse.Namespace) -> ConversionOptions:
    """The conversion options of a command line, and of the file of its `--config`; the others are at their defaults.

    Raises UsageError for a text that is not a value of its option, and for a file that is not a configuration.
    """
    texts = ((each, getattr(arguments, each.name, None)) for each in getattr(arguments, "offered", ()))
    values = {each: _value(each, text) for each, text in texts if text is not None}
    if getattr(arguments, "config", None) is not None:
        from moir.tools.configuration import read_configuration

        values = {**read_configuration(arguments.config), **values}
    return ConversionOptions.of_values(values)


def add_configuration_argument(parser: ArgumentParser) -> None:
    """Add `--config`."""
    parser.add_argument("--config", metavar="FILE", help="TOML file with options; those on the command line override them")


def _value(parameter: Parameter[Any], value: object) -> object:
    if isinstance(value, bool):
        return value
    try:
        return parameter.kind.of_text(str(value))
    except ValueError as error:
        raise UsageError(f"{parameter.flag}: {error}") from None
