"""The arguments of the command lines that are about extensions, and loading them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from moir.frameworks import FRONTENDS, load

if TYPE_CHECKING:
    from moir.extensions.loading import Extensions
    from moir.lowering.driver import LoweringTable

SWITCHES = ("MO_ENABLED_TRANSFORMS", "MO_DISABLED_TRANSFORMS")
"""The environment variables that switch transformations on and off."""

MODEL_OPTIMIZER_TABLE = "moir.model_optimizer.lowering.table:mo"
"""The lowerings of operations that are made with Model Optimizer's API, whatever the framework."""


class ExtensionOptions(TypedDict, total=False):
    """What a conversion can be told about extensions.

    `extensions`: directories, or names of entry points. `transformations_config`: a JSON file. `enable`, `disable`: ids, names or full
    class names of transformations, names of moir's passes among them.
    """

    extensions: str | Path | Sequence[str | Path]
    transformations_config: str | Path | None
    enable: Sequence[str]
    disable: Sequence[str]


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


def extension_options(arguments: argparse.Namespace) -> ExtensionOptions:
    """What a command line says about extensions."""
    return {
        "extensions": _listed(arguments.extensions),
        "transformations_config": arguments.transformations_config,
        "enable": _listed(arguments.enable),
        "disable": _listed(arguments.disable),
    }


def _listed(text: str | None) -> list[str]:
    return [part for each in (text or "").split(",") if (part := each.strip())]


def directories_of(options: ExtensionOptions) -> list[str]:
    """The directories, as they were given."""
    given = options.get("extensions") or ()
    return [str(given)] if isinstance(given, str | Path) else [str(each) for each in given]


def open_extensions(framework: str | None, options: ExtensionOptions, parameters: Mapping[str, Any] | None = None) -> Extensions | None:
    """Load the extensions of a conversion; the caller closes them. None, at no cost, if there is nothing to load, enable or disable.

    Args:
        framework: the framework of the model; None if it is not known yet.
        options: what was given.
        parameters: further options of the conversion, which extensions may look at.

    Raises ConversionError for what cannot be loaded.
    """
    directories, configuration = directories_of(options), options.get("transformations_config")
    enable, disable = options.get("enable") or (), options.get("disable") or ()
    if not (directories or configuration or enable or disable or any(map(os.environ.get, SWITCHES))):
        return None
    from moir.extensions.loading import Extensions

    return Extensions.load(
        directories,
        framework,
        lowering_tables(framework) if directories or configuration else (),
        configuration=configuration,
        enable=enable,
        disable=disable,
        parameters=parameters,
    )


def lowering_tables(framework: str | None) -> list[LoweringTable]:
    """The tables of lowerings extensions may register in: those of a framework, or of all."""
    places = [frontend.lowering for frontend in FRONTENDS if framework in (None, frontend.framework)]
    return [cast("LoweringTable", load(place)) for place in (*places, MODEL_OPTIMIZER_TABLE)]
