"""The import paths of Model Optimizer: `mo.*`, `extensions.*` and `openvino.tools.mo.*`, as they were from 2019 to
2024.

    with LegacyImports():
        from openvino.tools.mo.front.common.replacement import FrontReplacementOp
        from mo.ops.power import Power

The modules exist only inside the `with` statement. Nothing is installed; other modules of these names are put aside
and restored at the end, and an installed openvino does not change apart from its submodule `openvino.tools.mo`. The
three roots lead to the same modules, and every name to one class. Without networkx, `import networkx` gives
`moir.model_optimizer.api.networkx_functions`.

A module below `front`, `middle` or `back` that is not listed had built-in transformations: a class from it is a
stand-in (`api/anchors.py`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

ROOTS = ("openvino.tools.mo", "mo", "extensions")
"""The packages that were Model Optimizer."""

ENCLOSING = ("openvino", "openvino.tools")
"""The parent packages of a root. They are made here if they are not installed."""

_API = "moir.model_optimizer.api"
_GRAPH = "moir.model_optimizer.graph"
_SHAPES = (f"{_GRAPH}.shapes", f"{_API}.shape_functions")
_REPLACEMENT = (f"{_API}.replacement", f"{_API}.configured_replacement")

_EXTRACTORS = (f"{_API}.extractors",)
_PARTIAL_INFERENCE = (f"{_API}.partial_inference", f"{_API}.reverse_inference", *_SHAPES)

SOURCES: dict[str, tuple[str, ...]] = {
    "back.pass_separator": (f"{_API}.anchors",),
    "back.replacement": (f"{_API}.back_replacement",),
    "front.caffe.extractors.utils": _EXTRACTORS,
    "front.common.layout": (f"{_API}.layouts",),
    "front.common.partial_infer.elemental": _PARTIAL_INFERENCE,
    "front.common.partial_infer.eltwise": _PARTIAL_INFERENCE,
    "front.common.partial_infer.utils": _PARTIAL_INFERENCE,
    "front.common.replacement": _REPLACEMENT,
    "front.extractor": (f"{_API}.front_extractor", *_EXTRACTORS),
    "front.onnx.extractors.utils": _EXTRACTORS,
    "front.pass_separator": (f"{_API}.anchors",),
    "front.subgraph_matcher": (f"{_API}.subgraph_match",),
    "front.tf.extractors.utils": _EXTRACTORS,
    "front.tf.graph_utils": (f"{_API}.graph_utilities", f"{_GRAPH}.operation"),
    "front.tf.replacement": _REPLACEMENT,
    "graph.connection": (f"{_GRAPH}.port",),
    "graph.graph": (f"{_GRAPH}.graph", f"{_GRAPH}.node", f"{_GRAPH}.editing"),
    "graph.perm_inputs": (f"{_API}.layouts",),
    "graph.port": (f"{_GRAPH}.port",),
    "middle.pass_separator": (f"{_API}.anchors",),
    "middle.passes.convert_data_type": (f"{_API}.data_types",),
    "middle.pattern_match": (f"{_API}.pattern_functions",),
    "middle.replacement": _REPLACEMENT,
    "ops.op": (f"{_GRAPH}.operation", f"{_API}.layouts"),
    "utils.custom_replacement_config": (f"{_API}.json_configuration",),
    "utils.error": (f"{_API}.errors",),
    "utils.replacement_pattern": (f"{_API}.replacement",),
    "utils.utils": (f"{_API}.errors",),
    "networkx": (f"{_API}.networkx_functions",),
}
"""Module of Model Optimizer, without its root -> the modules that have its names, in order."""

RENAMED = {"Node": "GraphNode"}
"""Name in a listed module of Model Optimizer -> our name, where that differs."""

DIRECTORIES = frozenset(
    (
        *("analysis", "back", "load", "middle", "middle.passes", "ops"),
        *("front", "front.common", "front.caffe", "front.kaldi", "front.mxnet", "front.onnx", "front.paddle", "front.tf"),
        *("front.caffe.extractors", "front.mxnet.extractors", "front.onnx.extractors", "front.tf.extractors"),
        *("load.caffe", "load.kaldi", "load.mxnet", "load.onnx", "load.tf"),
    )
)
"""Packages with a module for each built-in transformation or operation, whose names are not listed in `SOURCES`."""

_PACKAGES = (
    frozenset(name[:end] for name in (*SOURCES, *DIRECTORIES) for end, letter in enumerate(name) if letter == ".") | DIRECTORIES | {""}
)


def canonical(fullname: str) -> str | None:
    """The name of a module of Model Optimizer without its root, empty for the root; None for other modules."""
    for root in ROOTS:
        if fullname == root or fullname.startswith(f"{root}."):
            return fullname[len(root) + 1 :]
    return None


def is_module(name: str) -> bool:
    """Whether Model Optimizer had a module of this name, or may have had it."""
    return name in SOURCES or name in _PACKAGES or name.rpartition(".")[0] in DIRECTORIES


def resolve(name: str, attribute: str) -> Any:
    """The object of a name in a module of Model Optimizer. Raises AttributeError if there is none."""
    if name in SOURCES:
        for source in SOURCES[name]:
            found = getattr(importlib.import_module(source), RENAMED.get(attribute, attribute), None)
            if found is not None:
                return found
    elif name not in _PACKAGES:
        directory = name.partition(".")[0]
        if directory == "ops":
            return _operation(attribute)
        from moir.model_optimizer.api.anchors import PHASES, built_in, is_class_name

        if directory in PHASES and is_class_name(attribute):
            return built_in(directory, attribute)
    raise AttributeError(f"moir has no {attribute} in Model Optimizer's module {name}")


def _operation(attribute: str) -> Any:
    operations = importlib.import_module(f"{_API}.operations")
    return getattr(operations, attribute)


def names_in(name: str) -> list[str]:
    """The names in a listed module."""
    legacy = {ours: theirs for theirs, ours in RENAMED.items()}
    found: dict[str, None] = {}
    for source in SOURCES.get(name, ()):
        module = importlib.import_module(source)
        found.update(dict.fromkeys(legacy.get(key, key) for key in vars(module) if not key.startswith("_") and key != "annotations"))
    return list(found)


class LegacyModule(ModuleType):
    """A module of Model Optimizer; its names are looked up when they are asked for."""

    def __init__(self, fullname: str, name: str | None) -> None:
        super().__init__(fullname, "A module of Model Optimizer, see moir.model_optimizer.import_paths.")
        self.__path__ = []
        self.__dict__["_canonical"] = name

    def __getattr__(self, attribute: str) -> Any:
        name: str | None = self.__dict__["_canonical"]
        if name is None or (attribute.startswith("__") and attribute != "__all__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {attribute!r}")
        if attribute == "__all__":
            return names_in(name)
        return resolve(name, attribute)


class _LegacyLoader(Loader):
    def __init__(self, name: str | None) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return LegacyModule(spec.name, self._name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is to be executed."""


class LegacyImports(MetaPathFinder):
    """Finds the modules of Model Optimizer between `open` and `close`, or in a `with` statement; both can be nested."""

    def __init__(self) -> None:
        self._depth = 0
        self._put_aside: dict[str, ModuleType] = {}

    def __enter__(self) -> LegacyImports:
        self.open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def open(self) -> None:
        """Make the modules importable."""
        self._depth += 1
        if self._depth == 1:
            self._put_aside = _take_out(name for name in list(sys.modules) if canonical(name) is not None)
            sys.meta_path.insert(0, self)

    def close(self) -> None:
        """Remove the modules, and restore those that were put aside."""
        self._depth -= 1
        if self._depth == 0:
            sys.meta_path.remove(self)
            _take_out(name for name, module in list(sys.modules.items()) if isinstance(module, LegacyModule) or canonical(name) is not None)
            for name, module in self._put_aside.items():
                sys.modules[name] = module
                _bind(name, module)
            self._put_aside = {}

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        name = canonical(fullname)
        if name is None:
            if (fullname not in ENCLOSING and fullname != "networkx") or self._is_installed(fullname, path):
                return None
            name = fullname if fullname in SOURCES else None
        elif name and name not in SOURCES and self._is_installed(fullname, path):
            # A file of a user whose directory is called as one of the roots.
            return None
        elif not is_module(name):
            parent, _, child = name.rpartition(".")
            known = names_in(parent) if parent in SOURCES else _children(parent)
            near = get_close_matches(child, known, 3)
            hint = f"; the nearest names are {', '.join(near)}" if near else ""
            raise ImportError(f"moir has no {child!r} in Model Optimizer's {parent or fullname.rpartition('.')[0]}{hint}", name=fullname)
        return ModuleSpec(fullname, _LegacyLoader(name), is_package=True)

    def _is_installed(self, fullname: str, path: Sequence[str] | None) -> bool:
        others = (finder for finder in sys.meta_path if finder is not self and not isinstance(finder, LegacyImports))
        return any(finder.find_spec(fullname, path) is not None for finder in others if hasattr(finder, "find_spec"))


def _children(package: str) -> list[str]:
    """The listed modules and packages in a package."""
    prefix = f"{package}." if package else ""
    return sorted({name[len(prefix) :].partition(".")[0] for name in (*SOURCES, *_PACKAGES) if name.startswith(prefix)} - {""})


def _take_out(names: Iterable[str]) -> dict[str, ModuleType]:
    """Remove modules from `sys.modules` and from their parent packages; returns them by name."""
    found: dict[str, ModuleType] = {}
    for name in names:
        found[name] = module = sys.modules.pop(name)
        parent, _, child = name.rpartition(".")
        package = sys.modules.get(parent)
        if package is not None and not isinstance(package, LegacyModule) and vars(package).get(child) is module:
            delattr(package, child)
    return found


def _bind(name: str, module: ModuleType) -> None:
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)
