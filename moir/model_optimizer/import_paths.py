"""The import paths of Model Optimizer: `mo.*`, `extensions.*` and `openvino.tools.mo.*`, as they were from 2019 to
2024.

    with LegacyImports():
        from openvino.tools.mo.front.common.replacement import FrontReplacementOp
        from mo.ops.power import Power

The modules exist only inside the `with` statement. Nothing is installed; other modules of these names are removed from
`sys.modules` and restored at the end. The three roots lead to the same modules, so each name has only one class.
Without networkx, `import networkx` gives `moir.model_optimizer.api.graph.networkx_functions`.

An installed openvino is not imported for the names of Model Optimizer, because that takes a second and starts a
thread: `openvino` and `openvino.tools` are stand-ins (`EnclosingModule`) unless they are imported already. A file of a
user may ask for the installed one (`from openvino import Core`), which is then loaded, and stays.

Users put their files into Model Optimizer's own directory, too, and import them from there: in `extensions.ops.mine`
are first the names of `ops/mine.py` in the extensions that are open.

A module below `front`, `middle` or `back` that is not listed had built-in transformations: a class from it is a
stand-in (`api/anchors.py`).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

from moir.extensions.directories import PHASE_DIRECTORIES
from moir.extensions.importing import module_of_extension
from moir.model_optimizer.former_modules import API, DIRECTORIES, RENAMED, SOURCES, WITH_TRANSFORMATIONS
from moir.support.suggestions import did_you_mean

ROOTS = ("openvino.tools.mo", "mo", "extensions")
"""The packages that were Model Optimizer."""

TESTS = "unit_tests"
"""The package with the functions that Model Optimizer's own tests used; a test names it as part of the module."""

ENCLOSING = ("openvino", "openvino.tools")
"""The parent packages of a root, the outer one first."""

_PACKAGES = (
    frozenset(name[:end] for name in (*SOURCES, *DIRECTORIES) for end, letter in enumerate(name) if letter == ".") | DIRECTORIES | {""}
)


def canonical(fullname: str) -> str | None:
    """The name of a module of Model Optimizer without its root, empty for the root; None for other modules."""
    if fullname == TESTS or fullname.startswith(f"{TESTS}."):
        return fullname
    for root in ROOTS:
        if fullname == root or fullname.startswith(f"{root}."):
            return fullname[len(root) + 1 :]
    return None


def is_module(name: str) -> bool:
    """Whether Model Optimizer had a module of this name, or may have had it."""
    return name in SOURCES or name in _PACKAGES or name.rpartition(".")[0] in DIRECTORIES


def resolve(name: str, attribute: str) -> Any:
    """The object with a name in a module of Model Optimizer. Raises AttributeError if there is none."""
    for source in SOURCES.get(name, ()):
        member = getattr(importlib.import_module(source), RENAMED.get(attribute, attribute), None)
        if member is not None:
            return member
    directory = name.partition(".")[0]
    if name not in _PACKAGES and (name not in SOURCES or name in WITH_TRANSFORMATIONS or directory == "ops"):
        if directory == "ops":
            return _operation(attribute)
        from moir.model_optimizer.api.transformations.anchors import PHASES, built_in, is_class_name

        if directory in PHASES and is_class_name(attribute):
            return built_in(directory, attribute)
    if ".kaldi" in f".{name}" and not attribute.startswith("_"):
        from moir.model_optimizer.api.configuration.product import kaldi_function

        return kaldi_function(attribute)
    raise AttributeError(f"moir has no {attribute} in Model Optimizer's module {name}")


def _operation(attribute: str) -> Any:
    operations = importlib.import_module(f"{API}.operations")
    return getattr(operations, attribute)


def names_in(name: str) -> list[str]:
    """The names in a listed module."""
    legacy = {ours: theirs for theirs, ours in RENAMED.items()}
    names: dict[str, None] = {}
    for source in SOURCES.get(name, ()):
        module = importlib.import_module(source)
        names.update(dict.fromkeys(legacy.get(key, key) for key in list(vars(module)) if not key.startswith("_") and key != "annotations"))
    if name.startswith("ops."):
        # A module below `ops` has all operations.
        names.update(dict.fromkeys(importlib.import_module(f"{API}.operations").descriptions()))
    return list(names)


class LegacyModule(ModuleType):
    """A stand-in for a module of Model Optimizer; a name in it is looked up when it is used."""

    def __init__(self, fullname: str, name: str | None) -> None:
        super().__init__(fullname, "A module of Model Optimizer, see moir.model_optimizer.import_paths.")
        self.__dict__["_canonical"] = name

    def __getattr__(self, attribute: str) -> Any:
        name: str | None = self.__dict__["_canonical"]
        if name is None or (attribute.startswith("__") and attribute != "__all__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {attribute!r}")
        own = _own_names(name)
        if attribute == "__all__":
            return [*names_in(name), *(each for each in own if not each.startswith("_"))]
        return own[attribute] if attribute in own else resolve(name, attribute)


def _own_names(name: str) -> dict[str, Any]:
    """The names of the file that an open extension has in place of a module; while the file is executed, the names
    defined so far.
    """
    module = module_of_extension(name) if name.partition(".")[0] in PHASE_DIRECTORIES else None
    return {} if module is None else vars(importlib.import_module(module))


class EnclosingModule(LegacyModule):
    """A stand-in for `openvino` or `openvino.tools`, which has the file and the folder of the installed one.

    A submodule of it that is a stand-in or belongs to Model Optimizer is imported when it is asked for. Any other name
    is one of the installed module, which is loaded for it.
    """

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute not in ("__all__", "__version__"):
            # Attributes that the import system and `inspect` read from any module must not load the installed one.
            raise AttributeError(f"module {self.__name__!r} has no attribute {attribute!r}")
        fullname = f"{self.__name__}.{attribute}"
        is_ours = fullname in ENCLOSING or canonical(fullname) is not None
        try:
            module = importlib.import_module(fullname) if is_ours else load_installed(self.__name__)
        except ModuleNotFoundError as error:
            raise AttributeError(f"module {self.__name__!r} has no attribute {attribute!r}: {error}") from error
        if is_ours:
            return module
        if attribute == "__all__" and not hasattr(module, "__all__"):
            return [name for name in dir(module) if not name.startswith("_")]
        return getattr(module, attribute)

    def __dir__(self) -> list[str]:
        try:
            return dir(load_installed(self.__name__))
        except ModuleNotFoundError:
            return list(super().__dir__())


def load_installed(fullname: str) -> ModuleType:
    """The installed module `openvino` or `openvino.tools`, which takes the place of its stand-in in `sys.modules`.

    Raises ModuleNotFoundError if it is not installed, or the exception that the module raises when it is executed.
    """
    module = sys.modules.get(fullname)
    if module is not None and not isinstance(module, LegacyModule):
        return module
    with _only_installed():
        return importlib.import_module(fullname)


@contextmanager
def _only_installed() -> Generator[None]:
    """A context in which `sys.modules` has no module below `openvino` that was made in this file.

    The modules of Model Optimizer are restored at the end, as is a stand-in whose module was not imported meanwhile.
    """
    finders = [each for each in tuple(sys.meta_path) if isinstance(each, LegacyImports)]
    modules = sys.modules.copy().items()
    ours = _take_out(name for name, module in modules if name.partition(".")[0] == ENCLOSING[0] and isinstance(module, LegacyModule))
    for finder in finders:
        finder.suspended += 1
    try:
        yield
    finally:
        for finder in finders:
            finder.suspended -= 1
        for name, module in ours.items():
            if canonical(name) is not None or name not in sys.modules:
                sys.modules[name] = module
                _bind(name, module)


class _LegacyLoader(Loader):
    """Loads a module that this file creates, or returns an existing one."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._spec = module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Does nothing, because the module has no code."""
        if self._spec is not None:
            module.__spec__ = self._spec


class LegacyImports(MetaPathFinder):
    """Finds the modules of Model Optimizer between `open` and `close`, or in a `with` statement; both can be nested.

    While `suspended` is not 0, it finds none.

    Args:
        roots_of_users: the roots among `ROOTS` below which files that are installed are a user's: for tests of files
            that were put into Model Optimizer's own directory.
    """

    def __init__(self, roots_of_users: Collection[str] = ()) -> None:
        self.suspended = 0
        self._roots_of_users = roots_of_users
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
            self._put_aside = _take_out(name for name in sys.modules.copy() if canonical(name) is not None)
            sys.meta_path.insert(0, self)

    def close(self) -> None:
        """Remove the modules, and restore those that were put aside."""
        self._depth -= 1
        if self._depth == 0:
            sys.meta_path.remove(self)
            _take_out(
                name for name, module in sys.modules.copy().items() if isinstance(module, LegacyModule) or canonical(name) is not None
            )
            for name, module in self._put_aside.items():
                sys.modules[name] = module
                _bind(name, module)
            self._put_aside = {}

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if self.suspended:
            return None
        if fullname in ENCLOSING:
            return _stand_in(fullname, self._installed(fullname, path))
        name = canonical(fullname)
        if name is None:
            parent = fullname.rpartition(".")[0]
            if isinstance(sys.modules.get(parent), EnclosingModule):
                return self._submodule_of_installed(fullname, load_installed(parent))
            if fullname != "networkx" or self._is_installed(fullname, path):
                return None
            name = fullname
        elif name and (name not in SOURCES or name in WITH_TRANSFORMATIONS) and self._is_installed(fullname, path):
            # A user's own directory has the same name as one of Model Optimizer's packages.
            return None
        elif not is_module(name) and module_of_extension(name) is None:
            parent, _, child = name.rpartition(".")
            near = did_you_mean(child, _known_names(parent), "docs/model-optimizer-names.md lists the names of each module")
            raise ImportError(f"moir has no {child!r} in Model Optimizer's {parent or fullname.rpartition('.')[0]}; {near}", name=fullname)
        spec = ModuleSpec(fullname, _LegacyLoader(LegacyModule(fullname, name)), is_package=True)
        if fullname in self._roots_of_users and (installed := self._installed(fullname, path)) is not None:
            spec.submodule_search_locations = list(installed.submodule_search_locations or ())
        return spec

    def _submodule_of_installed(self, fullname: str, parent: ModuleType) -> ModuleSpec | None:
        """The spec of a submodule of the installed openvino, whose import has begun with the stand-in as its parent;
        None if there is no such module.
        """
        # Loading the parent imports most submodules, which must not be executed twice.
        module = sys.modules.pop(fullname, None)
        return self._installed(fullname, parent.__path__) if module is None else ModuleSpec(fullname, _LegacyLoader(module))

    def _is_installed(self, fullname: str, path: Sequence[str] | None) -> bool:
        return self._installed(fullname, path) is not None

    def _installed(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """The spec of an installed module, which is not imported; None if there is none."""
        for finder in tuple(sys.meta_path):
            if not isinstance(finder, LegacyImports) and hasattr(finder, "find_spec"):
                spec = finder.find_spec(fullname, path)
                if spec is not None:
                    return spec
        return None


def _stand_in(fullname: str, installed: ModuleSpec | None) -> ModuleSpec:
    origin = installed.origin if installed is not None and installed.has_location else None
    spec = ModuleSpec(fullname, _LegacyLoader(EnclosingModule(fullname, None)), origin=origin, is_package=True)
    spec.has_location = origin is not None
    spec.submodule_search_locations = list((installed and installed.submodule_search_locations) or ())
    return spec


def _known_names(module: str) -> Iterable[str]:
    """The names in a module: its entries in SOURCES if it is listed there, the operations for `ops.…`, or the modules
    of a package.
    """
    if module in SOURCES:
        return names_in(module)
    if module.startswith("ops."):
        return importlib.import_module(f"{API}.operations").descriptions()
    return _children(module)


def _children(package: str) -> list[str]:
    """The listed modules and packages in a package."""
    prefix = f"{package}." if package else ""
    return sorted({name[len(prefix) :].partition(".")[0] for name in (*SOURCES, *_PACKAGES) if name.startswith(prefix)} - {""})


def _take_out(names: Iterable[str]) -> dict[str, ModuleType]:
    """Remove modules from `sys.modules` and from their parent packages; returns them by name."""
    modules: dict[str, ModuleType] = {}
    for name in names:
        module = sys.modules.pop(name, None)
        if module is None:
            continue  # another thread was faster
        modules[name] = module
        parent, _, child = name.rpartition(".")
        package = sys.modules.get(parent)
        if package is not None and not isinstance(package, LegacyModule) and vars(package).get(child) is module:
            delattr(package, child)
    return modules


def _bind(name: str, module: ModuleType) -> None:
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)
