"""Importing the files of an extension: its directory becomes a package with a private name.

The private name lets two directories have files of the same name, hides no installed module, and allows to remove all
modules of the extension from `sys.modules` when it is closed. While it is open, the name of the directory is an alias
of the package, so that its files can import each other (`from my_extension.ops.mine import Mine`) as in Model
Optimizer. A directory with the name of an installed module gets no alias. Modules that lie beside the directory can be
imported too, as long as no installed module has their name.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Sequence
from importlib import util
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from itertools import count
from pathlib import Path
from types import ModuleType

from moir.errors import INTERRUPTIONS, ConversionError
from moir.extensions.directories import PHASE_DIRECTORIES
from moir.extensions.failures import loading_failure, shown

_NUMBERS = count(1)

_OPEN: list[ExtensionPackage] = []
"""The packages of extensions that are open, in the order in which they were loaded."""


def module_of_extension(path: str) -> str | None:
    """The name under which a file of an open extension is imported, by its path in the directory: `ops.mine`.

    Returns None if no open extension has the file.
    """
    for package in _OPEN:
        if package.directory.joinpath(*path.split(".")).with_suffix(".py").is_file():
            return f"{package.name}.{path}"
    return None


class ExtensionPackage:
    """A directory of an extension as a package.

    Args:
        directory: the directory.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        self.alias = self.directory.name
        self.name = f"_moir_extension_{next(_NUMBERS)}"
        self.is_aliased = self.alias.isidentifier() and _is_free(self.alias, self.directory)

    def open(self) -> None:
        """Create the package and run its `__init__.py`. Raises ConversionError if that fails."""
        _OPEN.append(self)
        initial = self.directory / "__init__.py"
        if initial.is_file():
            spec = util.spec_from_file_location(self.name, initial, submodule_search_locations=[str(self.directory)])
            assert spec is not None
            assert spec.loader is not None
            sys.modules[self.name] = module = util.module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except INTERRUPTIONS:
                raise
            except BaseException as error:
                raise loading_failure(initial, error, self.owns) from error
        else:
            sys.modules[self.name] = module = ModuleType(self.name)
            module.__path__ = [str(self.directory)]
            module.__spec__ = ModuleSpec(self.name, None, is_package=True)

    def load(self, path: Path) -> ModuleType:
        """Import a file of the directory. Raises ConversionError with file and line if the import fails."""
        parts = path.relative_to(self.directory).with_suffix("").parts
        if any("." in part for part in parts):
            raise ConversionError("the name of a file of an extension has no dot but that of .py", location=shown(path))
        try:
            return importlib.import_module(".".join((self.name, *parts)))
        except INTERRUPTIONS:
            raise
        except BaseException as error:
            failed = loading_failure(path, error, self.owns)
            failed.reason = failed.reason.replace(self.name, self.alias)
            if isinstance(error, ModuleNotFoundError) and error.name:
                failed.hint = failed.hint or self._missing_module(error.name, failed.location or "")
            raise failed from error

    def _missing_module(self, name: str, location: str) -> str:
        """The hint about a module that the extension imports, in the line `location`, and that does not exist."""
        root, _, rest = name.partition(".")
        if root in (self.name, self.alias):
            return f"{shown(self.directory / rest.replace('.', '/'))} has to be there, as a file or a folder"
        file, _, number = location.rpartition(":")
        line = Path(file).read_text(errors="replace").splitlines()[int(number) - 1] if number.isdecimal() else ""
        if re.match(rf"\s*(from|import)\s+{re.escape(root)}\.({'|'.join(PHASE_DIRECTORIES)})\b", line):
            return f"call the directory {root} instead of {self.alias}, or write {self.alias} in place of {root} here"
        if root == __name__.partition(".")[0]:
            return f"this version of {root} has no module {name}; docs/extending.md names those for extensions"
        return f"install {root}, or put it beside the directory {self.alias}"

    def close(self) -> None:
        """Remove the package and all modules in it from `sys.modules`."""
        _OPEN.remove(self)
        for name in [name for name in list(sys.modules) if name == self.name or name.startswith(f"{self.name}.")]:
            sys.modules.pop(name, None)

    def owns(self, filename: str) -> bool:
        """Whether a file is in the directory."""
        return Path(filename).is_relative_to(self.directory)

    def label(self, module: str) -> str:
        """The name of a module of the package, with the name of the directory in place of the private name of the
        package, as environment variables have it.
        """
        return f"{self.alias}{module.removeprefix(self.name)}"


def _is_free(name: str, directory: Path) -> bool:
    """Whether a name can be the alias of a directory: no other module is, or could be, imported under it."""
    try:
        module = sys.modules.get(name)
        locations = list(getattr(module, "__path__", ())) if module is not None else None
        if locations is None:
            spec = util.find_spec(name)
            if spec is None:
                return True
            locations = list(spec.submodule_search_locations or ())
    except (ImportError, ValueError, AttributeError):
        return False
    return directory in [Path(location).resolve() for location in locations]


class _ExistingLoader(Loader):
    """Loads a module under a second name, without executing it again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class AliasFinder(MetaPathFinder):
    """Imports the modules of packages under the aliases of the packages.

    Args:
        packages: the packages; if several have one alias, the first that contains the module is used.
    """

    def __init__(self, packages: Sequence[ExtensionPackage]) -> None:
        self._packages = [package for package in packages if package.is_aliased]
        self._hidden: dict[str, ModuleType] = {}

    def open(self) -> None:
        """Install the aliases; modules that they hide leave `sys.modules`."""
        self._hidden = self._take_out()
        sys.meta_path.insert(0, self)

    def close(self) -> None:
        """Remove the aliases, and restore the modules that they hid."""
        sys.meta_path.remove(self)
        self._take_out()
        sys.modules.update(self._hidden)

    def prefer(self, package: ExtensionPackage) -> None:
        """Search a package before others with the same alias, while its own files are loaded."""
        if package in self._packages:
            self._packages.sort(key=lambda each: each is not package)
            self._take_out()

    def _take_out(self) -> dict[str, ModuleType]:
        aliases = {package.alias for package in self._packages}
        # A copy: another thread may import something meanwhile.
        modules_by_name = {name: module for name, module in sys.modules.copy().items() if name.partition(".")[0] in aliases}
        for name in modules_by_name:
            sys.modules.pop(name, None)
        return modules_by_name

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        root, _, _ = fullname.partition(".")
        for package in self._packages:
            if package.alias != root:
                continue
            private = f"{package.name}{fullname.removeprefix(root)}"
            try:
                spec = util.find_spec(private)
            except ModuleNotFoundError:
                continue
            if spec is not None:
                is_package = spec.submodule_search_locations is not None
                return ModuleSpec(fullname, _ExistingLoader(private), is_package=is_package)
        return None


class NeighbourFinder(MetaPathFinder):
    """Imports modules that lie beside the directories of extensions: `from common import SCALE`.

    Model Optimizer put the folder in which a directory lies at the front of the module path. Here installed modules
    come first, so that no file of a user hides a module that moir needs.

    Args:
        packages: the extensions.
    """

    def __init__(self, packages: Sequence[ExtensionPackage]) -> None:
        self._folders = list(dict.fromkeys(str(package.directory.parent) for package in packages))
        self._modules: set[str] = set()

    def open(self) -> None:
        """Install the finder after all others."""
        sys.meta_path.append(self)

    def close(self) -> None:
        """Remove the finder and its modules: a later extension may have others of the same names."""
        sys.meta_path.remove(self)
        for name in [name for name in list(sys.modules) if name.partition(".")[0] in self._modules]:
            sys.modules.pop(name, None)

    def prefer(self, package: ExtensionPackage) -> None:
        """Search the folder of this extension first, while its own files are loaded."""
        self._folders.sort(key=lambda folder: folder != str(package.directory.parent))

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if path is not None:
            return None
        spec = PathFinder.find_spec(fullname, self._folders)
        if spec is None:
            return None
        if spec.loader is None:
            # A folder without __init__.py, as those of extensions mostly are.
            folders = [folder for folder in spec.submodule_search_locations or () if _has_modules(Path(folder))]
            if not folders:
                return None
            spec = ModuleSpec(fullname, None, is_package=True)
            spec.submodule_search_locations = folders
        self._modules.add(fullname)
        return spec


def _has_modules(folder: Path) -> bool:
    """Whether a folder, or one below it, contains modules of Python; a folder without modules is not a package."""
    return any(any(folder.glob(pattern)) for pattern in ("*.py", "*/*.py"))
