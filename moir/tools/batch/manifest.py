"""Manifests: TOML files that list models, each with options of its own.

    compress_to_fp16 = true

    [[model]]
    input_model = "resnet50.onnx"

    [[model]]
    input_model = "detector/saved_model"
    output_model = "ir/detector"
    input = "image[1,640,640,3]"

The keys before the first `[[model]]` are for all models. Keys are the names of parameters, as in a file of
`--config`, and `input_model`, `output_dir`, `output_model` and `passes`. Paths are relative to the folder of the
manifest. An `output_dir` or `output_model` of a model replaces either of those that are for all.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from moir.errors import UsageError
from moir.files.remote.addresses import folder_of, is_address, joined, shown
from moir.files.remote.local import local_file
from moir.options import ConversionOptions
from moir.parameters import parameters
from moir.parameters.interface import MODEL_NAME
from moir.support.records import Record
from moir.tools.batch.named_files import resolved
from moir.tools.configuration import entry, hint_for_key, read_toml
from moir.tools.output_path import check_name, output_path, place_of_model

MODELS = "model"
"""The name of the table of one model."""

OWN_KEYS = ("input_model", "output_dir", "output_model", "passes")
"""The keys of manifests that are not parameters of a conversion."""

OUTPUT_KEYS = ("output_dir", "output_model")
"""The keys that say where the IR is written; a table may have only one of them."""

_LARGEST = 64 << 20
"""The largest size of a manifest in bytes, enough for some hundred thousand models."""


class Listed(Record):
    """A model that a manifest lists.

    Args:
        model: the path or the address of the model.
        output: the path or the address of the `.xml`.
        conversion: the options of the conversion.
        passes: the pipeline, if it is not the default one.
    """

    model: str
    output: str
    conversion: ConversionOptions
    passes: str | None


def read_manifest(path: str, overriding: ConversionOptions, output_dir: str | None) -> list[Listed]:
    """The models that a manifest lists, in its order.

    Args:
        path: the path or the address of the manifest.
        overriding: options that take precedence over those of the manifest.
        output_dir: the folder that outputs are relative to, by default that of the manifest.

    Raises UsageError if it cannot be read, lists no model, or has keys or values that do not exist.
    """
    with local_file(path) as file:
        content = read_toml(str(file), "a manifest in TOML", _LARGEST)
    folder = folder_of(path) if is_address(path) else str(Path(path).parent)
    path = shown(path)
    tables: object = content.pop(MODELS, None)
    if not isinstance(tables, list) or not tables or not all(isinstance(each, dict) for each in cast("list[object]", tables)):
        raise UsageError(
            "the manifest lists no models", location=path, hint='begin each with a line [[model]] and a line input_model = "FILE"'
        )
    names = frozenset(each.name for each in parameters())
    common = _checked(path, content, "", names)
    models: list[Listed] = []
    for number, each in enumerate(cast("list[dict[str, Any]]", tables), 1):
        where = f"model {number}"
        own = _checked(path, each, where, names)
        inherited = {key: value for key, value in common.items() if key not in OUTPUT_KEYS or own.keys().isdisjoint(OUTPUT_KEYS)}
        models.append(_read_entry(path, folder, {**inherited, **own}, where, overriding, output_dir))
    return models


def _checked(path: str, table: Mapping[str, Any], where: str, names: frozenset[str]) -> dict[str, Any]:
    """The keys of a table of a manifest, written with underscores, and their values.

    Args:
        path: the manifest, for messages.
        table: the table.
        where: the place of the table, for messages; empty for the keys before the first model.
        names: the names of parameters.

    Raises UsageError for a key that is neither a parameter nor a key of manifests, and for two keys that say where the
    IR is written.
    """
    keys = {key.replace("-", "_"): value for key, value in table.items()}
    prefix = f"{where}: " if where else ""
    for name in keys:
        if name not in names and name not in OWN_KEYS:
            raise UsageError(f"{prefix}there is no key {name!r}", location=path, hint=hint_for_key(name, [*OWN_KEYS, *names]))
        if name in OWN_KEYS and not isinstance(keys[name], str):
            raise UsageError(f"{prefix}{name} must be a text, not {keys[name]!r}", location=path)
    if keys.keys() >= set(OUTPUT_KEYS):
        hint = "give either; an output_model is a path of its own"
        raise UsageError(f"{prefix}there are an output_dir and an output_model", location=path, hint=hint)
    return keys


def _read_entry(
    path: str, folder: str, table: Mapping[str, Any], where: str, overriding: ConversionOptions, output_dir: str | None
) -> Listed:
    if "input_model" not in table:
        raise UsageError(f"{where}: input_model is missing", location=path, hint='add a line input_model = "FILE"')
    try:
        values = dict(entry(path, name, _resolved(name, value, folder)) for name, value in table.items() if name not in OWN_KEYS)
        conversion = ConversionOptions.of_values({**values, **overriding.given})
        conversion.check()
        check_name(conversion[MODEL_NAME])
    except UsageError as error:
        raise UsageError(f"{where}: {error.reason}", location=path, hint=error.hint) from error
    model = joined(folder, table["input_model"])
    base = folder if output_dir is None else output_dir
    if "output_model" in table:
        output = output_path(place_of_model(joined(base, table["output_model"])), model, conversion)
    else:
        output = output_path(joined(base, table.get("output_dir", ".")), model, conversion, is_single=False)
    return Listed(model, output, conversion, table.get("passes"))


def _resolved(name: str, value: Any, folder: str) -> Any:
    """The value of an option whose paths are relative to the folder of the manifest.

    Raises UsageError for a relative path in a manifest at an address: files that options name have to be on this
    machine.
    """
    if not is_address(folder):
        return resolved(name, value, Path(folder))
    if resolved(name, value, Path("folder")) != value:
        raise UsageError(f"{name} names a file beside a manifest that lies elsewhere", hint="give an absolute path of the machine")
    return value
