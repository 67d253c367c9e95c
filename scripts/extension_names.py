"""Names of Model Optimizer that extension files use and moir lacks, by count; and which of the files load.

    python -m scripts.extension_names FOLDER…           the names, most frequent first, each with the first file
    python -m scripts.extension_names --load FOLDER…    loads every file by itself, as an extension, and counts

The files are those that moir would load of all directories with `ops`, `front`, `middle` or `back` in them. Nothing of
them is executed without `--load`. Names are those in `from mo.graph.graph import Node`; attributes are looked for where
the form of the source says what they belong to: `graph.create_edge`, `node.in_port(0).connect`.
"""

from __future__ import annotations

import ast
import importlib
import shutil
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

from moir.errors import ConversionError
from moir.extensions.directories import PHASE_DIRECTORIES, ExtensionPath, files_of
from moir.extensions.loading import Extensions, lowering_tables
from moir.frameworks import FRAMEWORKS
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode
from moir.model_optimizer.graph.port import Connection, Port, PortData
from moir.model_optimizer.import_paths import LegacyImports, canonical
from moir.pipeline import pipeline_names


@dataclass
class Missing:
    """Names that moir lacks.

    Args:
        counts: how many files use each name; a name is `module: name` or `Class.attribute`.
        places: the first file and line of each.
    """

    counts: Counter[str] = field(default_factory=Counter[str])
    places: dict[str, str] = field(default_factory=dict[str, str])

    def add(self, names: Iterable[tuple[str, int]], path: Path) -> None:
        """Count the names of a file, each once."""
        for name, line in dict(reversed(list(names))).items():
            self.counts[name] += 1
            self.places.setdefault(name, f"{path}:{line}")


def extension_files(folder: Path) -> list[tuple[Path, ExtensionPath]]:
    """The files that moir would load of all extensions in a folder, with the directory of the extension of each."""
    roots = {path.parent for name in PHASE_DIRECTORIES for path in folder.rglob(name) if path.is_dir()}
    outer = [root for root in sorted(roots) if not set(root.relative_to(folder).parts) & set(PHASE_DIRECTORIES)]
    return [(root, file) for root in outer for file in files_of(root, None)]


@cache
def has_name(module: str, name: str) -> bool:
    """Whether moir has a name in a module of Model Optimizer, or the module that the name is of."""
    try:
        if hasattr(importlib.import_module(module), name):
            return True
        importlib.import_module(f"{module}.{name}")
    except (ImportError, ConversionError):
        return False
    return True


def missing_names(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The names of a file that moir lacks, with the line. To be called while the modules can be imported."""
    owners: dict[str, object] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0 and canonical(node.module) is not None:
            for alias in node.names:
                if alias.name == "*":
                    continue
                if has_name(node.module, alias.name):
                    owners[alias.asname or alias.name] = getattr(importlib.import_module(node.module), alias.name, None)
                else:
                    yield f"{canonical(node.module)}: {alias.name}", node.lineno
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if canonical(alias.name) is not None and not _is_importable(alias.name):
                    yield f"{canonical(alias.name)}", node.lineno
                elif alias.name == "networkx":
                    owners[alias.asname or alias.name] = importlib.import_module("networkx")
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = _owner(node.value, owners)
            if owner is not None and not hasattr(owner, node.attr) and node.attr not in _instance_attributes(owner):
                yield f"{getattr(owner, '__name__', owner)}.{node.attr}", node.lineno


_SET_ON_INSTANCES: tuple[tuple[object, tuple[str, ...]], ...] = (
    (Graph, ("graph",)),
    (Port, ("idx", "node", "type")),
    (PortData, ("port",)),
)


@cache
def _is_importable(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _instance_attributes(owner: object) -> Sequence[str]:
    return next((names for known, names in _SET_ON_INSTANCES if known is owner), ())


_WITH_DATA: tuple[object, ...] = (Port, Connection)

_RESULTS: dict[str, object] = {
    "in_port": Port,
    "out_port": Port,
    "get_source": Port,
    "get_destination": Port,
    "get_connection": Connection,
    "in_node": GraphNode,
    "out_node": GraphNode,
    "create_node": GraphNode,
}
"""What a method returns whose name no other class has."""


def _owner(value: ast.expr, owners: dict[str, object]) -> object | None:
    """The class or module that an attribute of an expression is of, as far as its form says."""
    if isinstance(value, ast.Name):
        return Graph if value.id == "graph" else owners.get(value.id)
    if isinstance(value, ast.Attribute):
        if value.attr == "graph":
            return Graph if not (isinstance(value.value, ast.Name | ast.Attribute) and _owner(value.value, owners) is Graph) else None
        return PortData if value.attr == "data" and any(_owner(value.value, owners) is each for each in _WITH_DATA) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        owner = _RESULTS.get(value.func.attr)
        return None if owner is GraphNode else owner
    return None


def count_missing(folders: Iterable[Path]) -> tuple[int, Missing]:
    """The number of files in folders, and the names they use that moir lacks."""
    missing = Missing()
    number = 0
    with LegacyImports():
        for folder in folders:
            for _, file in extension_files(folder):
                number += 1
                try:
                    tree = ast.parse(file.path.read_text(encoding="utf-8", errors="replace"))
                except SyntaxError as error:
                    print(f"{file.path}:{error.lineno}: {error.msg}", file=sys.stderr)
                    continue
                missing.add(missing_names(tree), file.path)
    return number, missing


def loading_error(root: Path, file: ExtensionPath) -> str | None:
    """Why a file does not load and register by itself, in an extension without other files; None if it does."""
    framework = FRAMEWORKS[file.framework or "onnx"]
    with TemporaryDirectory(prefix="extension_") as directory:
        extension = Path(directory, "one_file")
        copy = extension / file.path.relative_to(root)
        copy.parent.mkdir(parents=True)
        shutil.copyfile(file.path, copy)
        try:
            with (
                redirect_stdout(StringIO()),
                redirect_stderr(StringIO()),
                Extensions.load([extension], framework.dialect, lowering_tables(framework)) as extensions,
            ):
                extensions.passes(pipeline_names(framework.dialect), framework.dialect)
        except ConversionError as error:
            return str(error).replace(f"{extension}/", "")
    return None


def measure_loading(folder: Path) -> None:
    """Load the files of a folder one by one; print what fails, and the share of those that load."""
    files = extension_files(folder)
    failed = 0
    for root, file in files:
        error = loading_error(root, file)
        if error is not None:
            failed += 1
            print(f"{file.path.relative_to(root)}: {' | '.join(error.splitlines())}")
    share = 100 * (len(files) - failed) / max(len(files), 1)
    print(f"{folder}: {len(files) - failed} of {len(files)} files load and register ({share:.1f} %)")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the script."""
    parser = ArgumentParser(description="Names of Model Optimizer that extension files use and moir lacks.")
    parser.add_argument("folders", nargs="+", type=Path, help="folders of extension files")
    parser.add_argument("--load", action="store_true", help="load every file by itself")
    options = parser.parse_args(arguments)
    if options.load:
        for folder in options.folders:
            measure_loading(folder)
        return
    number, missing = count_missing(options.folders)
    for name, count in missing.counts.most_common():
        print(f"{count:5}  {name}  ({missing.places[name]})")
    print(f"{len(missing.counts)} names in {number} files")


if __name__ == "__main__":
    main()
