"""`moir-opt --list-passes` and `--show-dialects`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moir.pipeline import LoadedExtensions


def print_lists(*, passes: bool, dialects: bool, extensions: LoadedExtensions | None) -> None:
    """Print the passes, the dialects or both, with descriptions, those of `extensions` among them."""
    if passes:
        print("Passes:")
        print(_table(list(_passes(extensions))))
    if dialects:
        print("Dialects:")
        print(_table(list(_dialects())))


def _table(rows: Sequence[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {description}".rstrip() for name, description in rows)


def _passes(extensions: LoadedExtensions | None) -> Iterator[tuple[str, str]]:
    from moir.pipeline import load_pass, pass_names
    from moir.pipeline.text import DEFAULT
    from moir.tools.commands.list_passes import summary_of

    yield DEFAULT, "All passes that `moir` runs, see `moir passes`."
    for name in sorted(pass_names()):
        yield name, summary_of(load_pass(name))
    for name in [] if extensions is None else extensions.names():
        yield name, "Of an extension, see `moir passes --extensions …`."


def _dialects() -> Iterator[tuple[str, str]]:
    from moir.dialects import opset
    from moir.dialects.extension import EXTENSION
    from moir.dialects.framework import MODEL_OPTIMIZER
    from moir.frameworks import FRAMEWORKS

    yield "builtin", "Modules and types of MLIR."
    yield "moir", "Models, absent operands, weights."
    for name, framework in FRAMEWORKS.items():
        if not framework.is_lowered:
            yield name, f"Operations of {framework.title}, of any kind."
    for name in opset.OPSETS:
        kinds = [each.partition(".")[2] for each in opset.names() if each.startswith(f"{name}.")]
        yield name, f"OpenVINO's operation set {name.removeprefix('opset')}, {len(kinds)} in all: {_some(kinds)}"
    yield EXTENSION, "Operations outside of OpenVINO's operation sets, of any kind."
    yield MODEL_OPTIMIZER, "Operations that extensions of Model Optimizer build without a type."


def _some(kinds: Sequence[str]) -> str:
    return ", ".join(kinds[:4]) + (", …" if len(kinds) > 4 else "")
