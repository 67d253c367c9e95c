"""The plan of the package: a file of `moir/passes` is one pass, and imports run in one direction."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from moir.support.xdsl_passes import ModulePass

ROOT = Path(__file__).parents[2]

LAYERS = (
    ("errors", "version", "support"),
    ("frameworks", "options", "parameters", "targets.registry"),
    ("dialects",),
    ("analysis",),
    ("rewriting",),
    ("expansions",),
    ("files",),
    ("architectures",),
    ("tokenizers",),
    ("frontends", "raising", "lowering", "passes", "targets", "emit"),
    ("pipeline", "conversion", "conversion_result", "interface", "onnx_export"),
    ("inspection", "difference", "language_models"),
    ("extensions",),
    ("model_optimizer",),
    ("execution", "report_page"),
    ("checking",),
    ("reduction", "proofs"),
    ("bisection",),
    ("certificate",),
    ("model_explorer", "testing", "tools"),
    ("__init__", "__main__"),
)
"""The files and folders of the package. Each imports from those before its line, and from its own line unless that is STAGES."""

RECORDS_OF_TARGETS = {
    "moir.targets.registry",
    "moir.targets.stages",
    "moir.targets.openvino_cpu.form_index",
    "moir.targets.releases.registry",
    "moir.targets.releases.release",
}
"""What options read of the targets: their records, without any form."""

STAGES = LAYERS[9]
"""The stages of a conversion, which do not know each other."""


@cache
def modules() -> dict[str, Path]:
    """The files of the package and of its sub-packages, by the name they are imported by; a package is its `__init__.py`."""
    modules: dict[str, Path] = {}
    for path in sorted((ROOT / "moir").rglob("*.py")):
        if (path.parent / "__init__.py").exists():
            parts = path.relative_to(ROOT).with_suffix("").parts
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def imported_names(tree: ast.AST, package: str) -> Iterator[tuple[str, str | None]]:
    """All imports below a node, those in functions and under TYPE_CHECKING too: a module, and a name in it or None."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((each.name, None) for each in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = package.split(".")[: len(package.split(".")) - level + 1] if level else []
                source = ".".join([*base, *([module] if module else [])])
                yield from ((source, each.name) for each in names)
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(name))]):
                yield name, None
            case _:
                pass


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """The files of the package that each file imports."""
    graph: dict[str, frozenset[str]] = {}
    for name, path in modules().items():
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        actual = {
            f"{source}.{member}" if f"{source}.{member}" in modules() else source
            for source, member in imported_names(ast.parse(path.read_text(encoding="utf-8")), package)
        }
        graph[name] = frozenset(actual & modules().keys()) - {name}
    return graph


def part(module: str) -> str:
    """The file or folder of `moir` that a module is in, a name of LAYERS."""
    if module in RECORDS_OF_TARGETS:
        return "targets.registry"
    return module.split(".")[1] if "." in module else "__init__"


def is_downward(importer: str, imported: str) -> bool:
    """Whether a module may import another one."""
    depth = {name: index for index, layer in enumerate(LAYERS) for name in layer}
    above, below = part(importer), part(imported)
    if above == below:
        return True
    return depth[below] < depth[above] or (depth[below] == depth[above] and above not in STAGES)


def circles(graph: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan, "Depth-first search and linear graph algorithms", 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []
    circles: list[list[str]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        open_modules.append(module)
        for each in graph[module]:
            if each not in number:
                visit(each)
                lowest[module] = min(lowest[module], lowest[each])
            elif each in open_modules:
                lowest[module] = min(lowest[module], number[each])
        if lowest[module] == number[module]:
            start = open_modules.index(module)
            component = open_modules[start:]
            del open_modules[start:]
            if len(component) > 1:
                circles.append(sorted(component))

    for module in graph:
        if module not in number:
            visit(module)
    return circles


FILES_OF_PASSES = [name for name, path in modules().items() if name.startswith("moir.passes.") and path.name != "__init__.py"]


@pytest.mark.parametrize("module", FILES_OF_PASSES)
def test_a_file_of_passes_is_one_pass_of_its_name_or_a_part_of_one(module: str) -> None:
    """A part is imported in its own folder only, so that what one pass does stands in one room."""
    classes = [each for each in vars(import_module(module)).values() if isinstance(each, type) and issubclass(each, ModulePass)]
    folder, _, stem = module.rpartition(".")
    if passes := [each.name for each in classes if each.__module__ == module and "name" in vars(each)]:
        assert passes == [stem.replace("_", "-")]
    else:
        users = {importer for importer, imported in imports().items() if module in imported}
        assert users
        assert {importer.rpartition(".")[0] for importer in users} == {folder}


SHARED_ROOMS = ("moir.analysis.", "moir.rewriting.", "moir.expansions.")
"""Prefixes of the modules that several features share."""

WHOLE_SUBJECTS = ("moir.expansions.resizing.",)
"""Prefixes of shared modules that stay together, as static and computed sizes, though a lowering may use one of them alone."""


def features(module: str) -> set[str]:
    """The files outside of the shared rooms that import a module, or a shared module that imports it."""
    reached, pending = {module}, [module]
    while pending:
        used = pending.pop()
        users = {importer for importer, imported in imports().items() if used in imported}
        pending += {each for each in users if each.startswith(SHARED_ROOMS)} - reached
        reached |= users
    return {each for each in reached if not each.startswith(SHARED_ROOMS)}


def test_what_one_feature_uses_stands_beside_it() -> None:
    """A file of a shared room serves two features or more; that of one pass or lowering stands in its folder."""
    shared = [name for name, path in modules().items() if name.startswith(SHARED_ROOMS) and path.name != "__init__.py"]
    shared = [name for name in shared if not name.startswith(WHOLE_SUBJECTS)]
    single = {name: features(name) for name in shared if len(features(name)) < 2}
    assert not single, f"they move beside the file that uses them: {single}"


def test_every_file_is_in_a_layer() -> None:
    assert {part(module) for module in modules()} <= {name for layer in LAYERS for name in layer}


def test_imports_run_downward() -> None:
    arrows = {f"{importer} -> {each}" for importer, targets in imports().items() for each in targets if not is_downward(importer, each)}
    assert not arrows, "imports against the layers:\n" + "\n".join(sorted(arrows))


def test_imports_have_no_circles() -> None:
    actual = [", ".join(component) for component in circles(imports())]
    assert not actual, "files that import each other:\n" + "\n".join(actual)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import moir.errors", ("moir.errors", None)),
        ("def f():\n    from moir.errors import ConversionError", ("moir.errors", "ConversionError")),
        ("if TYPE_CHECKING:\n    from moir import errors", ("moir", "errors")),
        ("from . import types", ("moir.dialects", "types")),
        ("from ..errors import ConversionError", ("moir.errors", "ConversionError")),
        ("importlib.import_module('moir.errors')", ("moir.errors", None)),
    ],
)
def test_every_form_of_import_is_seen(text: str, expected: tuple[str, str | None]) -> None:
    assert list(imported_names(ast.parse(text), "moir.dialects")) == [expected]


def test_a_circle_and_what_hangs_on_it() -> None:
    graph = {"a": frozenset("b"), "b": frozenset("cd"), "c": frozenset("a"), "d": frozenset[str]()}
    assert circles(graph) == [["a", "b", "c"]]


LARGEST_FOLDER = 30
"""The most files that a folder of the package has, so that a reader finds one by its name."""


def test_no_folder_has_too_many_files() -> None:
    sizes = Counter(str(path.parent.relative_to(ROOT)) for path in (ROOT / "moir").rglob("*.py"))
    assert {folder: count for folder, count in sizes.items() if count > LARGEST_FOLDER} == {}


def test_no_folder_outgrows_the_others() -> None:
    """No folder holds more than a fifth of the package, but for the operations and the lowerings."""
    lines = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in modules().items()}
    sizes = {name: sum(count for module, count in lines.items() if part(module) == name) for layer in LAYERS for name in layer}
    sizes["dialects"] -= sum(count for module, count in lines.items() if module.startswith("moir.dialects.opset"))
    del sizes["lowering"]
    assert {name: size for name, size in sizes.items() if size > sum(lines.values()) / 5} == {}


LIVE_TABLES = {"sys.modules", "sys.meta_path", "sys.path_hooks", "os.environ"}
"""Tables of the interpreter, which other threads change; `list(table)` and `tuple(table)` copy them at once."""


def walked_tables(tree: ast.AST) -> Iterator[str]:
    """The live tables that loops and comprehensions below a node walk without a copy, and namespaces (`vars`).

    A list of pairs is no copy: the interpreter may run another thread between two of them.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension):
            table = node.iter
        elif isinstance(node, ast.Call) and ast.unparse(node).startswith("list(") and ast.unparse(node).endswith(".items())"):
            table = node.args[0]
        else:
            continue
        if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and table.func.attr in ("items", "keys", "values"):
            table = table.func.value
        text = ast.unparse(table)
        if text in LIVE_TABLES or text.startswith("vars("):
            yield text


def test_no_table_is_walked_while_other_threads_may_change_it() -> None:
    text = "for x in sys.modules.items(): pass\n[x for x in vars(m)]\nlist(sys.modules.items())\nlist(sys.modules)"
    assert sorted(walked_tables(ast.parse(text))) == ["sys.modules", "sys.modules", "vars(m)"]
    actual = {name: list(walked_tables(ast.parse(path.read_text(encoding="utf-8")))) for name, path in modules().items()}
    assert not {name: tables for name, tables in actual.items() if tables}


PARTS_OF_A_NODE = {"operands", "properties", "attributes", "results", "regions"}


def writes_to_source_nodes(tree: ast.AST) -> Iterator[str]:
    """The assignments below a node that change a part of `….op`, such as `node.op.operands[0] = x`."""
    for each in ast.walk(tree):
        targets = each.targets if isinstance(each, ast.Assign | ast.Delete) else [each.target] if isinstance(each, ast.AugAssign) else []
        for target in targets:
            written = target.value if isinstance(target, ast.Subscript) else target
            if isinstance(written, ast.Attribute) and written.attr in PARTS_OF_A_NODE and ast.unparse(written.value).endswith(".op"):
                yield ast.unparse(target)


def test_no_handler_writes_to_its_source_node() -> None:
    """A handler plans, then builds; the driver replaces the node as a whole."""
    written = "node.op.operands[0] = x\nnode.op.properties = {}\ndel self.node.op.attributes['a']\nop.operands[0] = x"
    assert list(writes_to_source_nodes(ast.parse(written))) == [
        "node.op.operands[0]",
        "node.op.properties",
        "self.node.op.attributes['a']",
    ]
    lowerings = {name: path for name, path in modules().items() if name.startswith("moir.lowering.")}
    actual = {name: list(writes_to_source_nodes(ast.parse(path.read_text(encoding="utf-8")))) for name, path in lowerings.items()}
    assert not {name: writes for name, writes in actual.items() if writes}
