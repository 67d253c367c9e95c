"""Arguments that the command lines share, for reading models and for extensions, and their `ConversionOptions`."""

from __future__ import annotations

import argparse
from pathlib import Path

from moir.frameworks import readable
from moir.options import ConversionOptions
from moir.tools.streams import STANDARD


def add_dump_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--dump-ir`."""
    help_text = "write the module after each pass that changes it, weights included, to a folder"
    parser.add_argument("--dump-ir", metavar="DIR", type=_folder, help=help_text)


def _folder(text: str) -> str:
    if text == STANDARD:
        raise argparse.ArgumentTypeError(f"{STANDARD} is no folder")
    return text


def add_reading_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of each framework's reader, in an argument group for each framework."""
    for framework in readable():
        if framework.options:
            group = parser.add_argument_group(framework.title)
            for option in framework.options:
                group.add_argument(option.flag, dest=option.name, metavar=option.metavar, help=option.help)


def reading_options(arguments: argparse.Namespace) -> dict[str, object]:
    """The options of readers that are given on a command line."""
    options = [option for framework in readable() for option in framework.options]
    texts = [(option, getattr(arguments, option.name, None)) for option in options]
    return {option.name: text.split(",") if option.is_list else text for option, text in texts if text}


def add_extension_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--extensions`, `--transformations-config`, `--enable` and `--disable`."""
    add = parser.add_argument_group("extensions").add_argument
    add("--extensions", metavar="DIR[,DIR]", help="directories of extensions, or names of installed ones (entry points moir.extensions)")
    add(
        *("--transformations-config", "--transformations_config", "--tensorflow_use_custom_operations_config"),
        metavar="FILE",
        help="JSON file that says which sub-graphs transformations replace",
    )
    add("--enable", metavar="ID[,ID]", help="transformations to run although they are not enabled")
    add("--disable", metavar="ID[,ID]", help="transformations and passes not to run")


def conversion_options(arguments: argparse.Namespace) -> ConversionOptions:
    """The conversion options of a command line; options that it does not have are at their defaults."""
    configuration: str | None = getattr(arguments, "transformations_config", None)
    return ConversionOptions(
        reading=reading_options(arguments),
        extensions=_listed(arguments.extensions),
        transformations_config=None if configuration is None else Path(configuration),
        enable=_listed(arguments.enable),
        disable=_listed(arguments.disable),
        compress_to_fp16=getattr(arguments, "compress_to_fp16", False),
        layout_change=getattr(arguments, "layout_change", "auto") == "auto",
        tokenizers=not getattr(arguments, "no_tokenizers", False),
    )


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part for each in (text or "").split(",") if (part := each.strip()))
