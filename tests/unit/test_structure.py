"""The plan of the package: a file of `moir/passes` is one pass, and imports run in one direction."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from moir.xdsl_passes import ModulePass

ROOT = Path(__file__).parents[2]

LAYERS = (
    ("errors", "records", "decimals", "tables"),
    (
        "arguments",
        "framework_record",
        "frameworks",
        "module_pass",
        "options",
        "parameters",
        "suggestions",
        "target_records",
        "version",
        "xdsl_passes",
    ),
    ("dialects",),
    ("analysis",),
    ("rewriting",),
    ("expansions",),
    ("files",),
    ("architectures",),
    ("frontends", "raising", "lowering", "passes", "targets", "emit"),
    ("tokenizers",),
    ("pipeline", "conversion", "interface"),
    ("inspection", "difference", "language_models"),
    ("extensions",),
    ("model_optimizer",),
    ("execution", "report_page"),
    ("reduction",),
    ("bisection",),
    ("testing", "tools"),
    ("__init__", "__main__"),
)
"""The files and folders of the package. Each imports from those before its line, and from its own line unless that is STAGES."""

STAGES = LAYERS[8]
"""The stages of a conversion, which do not know each other."""


@cache
def modules() -> dict[str, Path]:
    """The files of the package and of its sub-packages, by the name they are imported by; a package is its `__init__.py`."""
    found: dict[str, Path] = {}
    for path in sorted((ROOT / "moir").rglob("*.py")):
        if (path.parent / "__init__.py").exists():
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


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
        found = {
            f"{source}.{member}" if f"{source}.{member}" in modules() else source
            for source, member in imported_names(ast.parse(path.read_text(encoding="utf-8")), package)
        }
        graph[name] = frozenset(found & modules().keys()) - {name}
    return graph


def part(module: str) -> str:
    """The file or folder of `moir` that a module is in."""
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
    found: list[list[str]] = []

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
                found.append(sorted(component))

    for module in graph:
        if module not in number:
            visit(module)
    return found


PASS_MODULES = [name for name, path in modules().items() if name.startswith("moir.passes.") and path.name != "__init__.py"]


@pytest.mark.parametrize("module", PASS_MODULES)
def test_a_file_of_passes_is_one_pass_of_its_name(module: str) -> None:
    classes = [each for each in vars(import_module(module)).values() if isinstance(each, type) and issubclass(each, ModulePass)]
    passes = [each.name for each in classes if each.__module__ == module]
    assert passes == [module.rpartition(".")[2].replace("_", "-")]


def test_every_file_is_in_a_layer() -> None:
    assert {part(module) for module in modules()} <= {name for layer in LAYERS for name in layer}


def test_imports_run_downward() -> None:
    arrows = {f"{importer} -> {each}" for importer, targets in imports().items() for each in targets if not is_downward(importer, each)}
    assert not arrows, "imports against the layers:\n" + "\n".join(sorted(arrows))


def test_imports_have_no_circles() -> None:
    found = [", ".join(component) for component in circles(imports())]
    assert not found, "files that import each other:\n" + "\n".join(found)


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
    """The live tables that loops and comprehensions below a node walk without a copy, and namespaces (`vars`)."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.For | ast.comprehension):
            continue
        table = node.iter
        if isinstance(table, ast.Call) and isinstance(table.func, ast.Attribute) and table.func.attr in ("items", "keys", "values"):
            table = table.func.value
        text = ast.unparse(table)
        if text in LIVE_TABLES or text.startswith("vars("):
            yield text


def test_no_table_is_walked_while_other_threads_may_change_it() -> None:
    assert list(walked_tables(ast.parse("for x in sys.modules.items(): pass\n[x for x in vars(m)]"))) == ["sys.modules", "vars(m)"]
    found = {name: list(walked_tables(ast.parse(path.read_text(encoding="utf-8")))) for name, path in modules().items()}
    assert not {name: tables for name, tables in found.items() if tables}


VERSION = re.compile(r"\b20\d\d\.\d\b")

NAME_A_VERSION: Mapping[str, tuple[int, str]] = {
    "analysis/input_dependence.py": (1, "ranks that inputs decide"),
    "dialects/element_types.py": (1, "the source of the table"),
    "emit/weights.py": (1, "how the files of an IR are read"),
    "lowering/control_flow/connections.py": (1, "a refusal: sizes of a loop that may not run"),
    "lowering/onnx/arithmetic.py": (1, "a refusal: nothing beside unknown shapes"),
    "lowering/onnx/control_flow.py": (2, "loops: states that never change, what is joined"),
    "lowering/onnx/detection/suppression.py": (1, "a refusal: constants alone"),
    "lowering/onnx/image/resizing.py": (2, "unknown ranks; other axes are resized by matrices, another algorithm"),
    "lowering/onnx/operands.py": (1, "lists whose length is a rank"),
    "lowering/onnx/pooling.py": (1, "windows after the padding, of which the operation sets say nothing"),
    "lowering/onnx/quantization/operations.py": (1, "a refusal: nothing beside unknown ranks"),
    "lowering/onnx/recurrent/network.py": (2, "loops: sizes of recurrent sequences"),
    "lowering/onnx/sequences/stacked.py": (1, "loops: sizes of what none collects"),
    "lowering/onnx/strings/concatenation.py": (1, "strings, which hardly any operation moves"),
    "lowering/onnx/strings/movement.py": (2, "strings, which hardly any operation moves"),
    "lowering/tensorflow/special/incomplete_functions.py": (1, "loops: none over nothing"),
    "model_optimizer/api/transformations/anchors.py": (1, "the version of Model Optimizer whose order it is"),
    "passes/compress/compress_weights.py": (1, "which compressed weights are executed as such"),
    "passes/state/make_stateful.py": (1, "what belongs to a state"),
    "rewriting/unrolled_cells.py": (1, "loops: sizes of recurrent sequences"),
}
"""Files outside of the target's rooms that name a version of the runtime, how often, and why.

They refuse what it does not execute, ask for a rank, build loops in the form that it runs, or know how it stores an IR.
What it computes otherwise is a form of `moir/targets`: the numbers only fall.
"""


def test_the_target_has_a_room_of_its_own() -> None:
    rooms = ("moir/targets/", "moir/expansions/")
    found: dict[str, int] = {}
    for path in modules().values():
        name = path.relative_to(ROOT).as_posix()
        count = len(VERSION.findall(path.read_text(encoding="utf-8")))
        if count and not name.startswith(rooms):
            found[name.removeprefix("moir/")] = count
    assert found == {name: count for name, (count, _) in NAME_A_VERSION.items()}


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
    found = {name: list(writes_to_source_nodes(ast.parse(path.read_text(encoding="utf-8")))) for name, path in lowerings.items()}
    assert not {name: writes for name, writes in found.items() if writes}
