"""Prints the kinds of each framework that two or more files written by hand name, and which of them without a reason.

    python -m scripts.named_kinds [DIALECT…]

What is known of a kind stands at its registration. A file names a kind if its code has the kind as a literal: in a
call that registers, a collection, a key of a dictionary, a comparison with a kind, or a text that is a table of kinds.
Docstrings and messages name no kinds. Files that say they are generated are left out. `REASONS` says why other files
name kinds; a kind that two files name which are not in it has no reason.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from moir.frameworks import FRAMEWORKS
from moir.lowering.table import LoweringTable
from scripts.lowering_index import packages

ROOT = Path(__file__).parents[1] / "moir"

FOLDERS = {
    "aten": ("pytorch",),
    "onnx": ("onnx",),
    "paddle": ("paddle",),
    "tf": ("tensorflow",),
}
"""The words in the paths of the files that may name kinds of a framework, by its dialect."""

BUILDING = "lowering/to_onnx/"
"""The folder of the lowering in the other direction, which names kinds of ONNX as what it builds."""

RECORDS = {"tf": "frameworks/__init__.py"}
"""The file of records of frameworks, which names kinds of one."""

REASONS: Mapping[str, str] = {
    # Other stages.
    "frontends/": "how the file of a model writes a node, before it is an operation",
    "raising/": "several kinds together are one operation, such as a loop",
    "dialects/frameworks/": "the control flow of a framework, for every stage",
    "model_optimizer/": "the names of Model Optimizer's API, which are those of its documentation",
    "reduction/": "nodes of which a reduced model of the framework is made",
    "execution/": "nodes that the framework's runtime needs",
    "inspection/": "which kinds exist, and what becomes of those without a lowering",
    "frameworks/__init__.py": "the kinds that wait for the layout change, known before a table is loaded",
    # Values of attributes that are names of kinds, and parts of names.
    "lowering/onnx/microsoft/": "values of the attribute activation",
    "lowering/paddle/attention.py": "values of the attribute activation_type",
    "lowering/paddle/convolution.py": "values of the attribute fuse_activation",
    "lowering/paddle/indexing.py": "values of the attribute Reduce",
    "lowering/paddle/matrix.py": "values of the attribute activation",
    "lowering/pytorch/arguments.py": "types of arguments",
    "lowering/pytorch/image.py": "values of the attribute mode",
    "lowering/pytorch/mathematics/losses.py": "values of the attribute reduction",
    "lowering/pytorch/mathematics/segments.py": "values of the attribute reduce",
    "lowering/pytorch/scattering.py": "values of the attribute reduce",
    "lowering/pytorch/symbols.py": "functions of Python's module operator, of the same names",
    "lowering/tensorflow/attributes/fused_operations.py": "values of the attribute fused_ops",
    "lowering/tensorflow/resources/variables.py": "the ends of the names of kinds",
    "lowering/tensorflow/quantization/products.py": "the ends of the names of kinds",
    "lowering/tensorflow/scattering.py": "the ends of the names of kinds",
    "lowering/tensorflow/sparse/segments.py": "the ends of the names of kinds",
    "lowering/mxnet/activation.py": "values of the attribute act_type",
    "lowering/mxnet/pooling.py": "values of the attribute pool_type",
    "lowering/mxnet/image/transforms.py": "an attribute of that name",
    "lowering/tflite/fused_activation.py": "values of the attribute fused_activation_function",
    "lowering/tflite/mediapipe.py": "values of the attribute activation",
    "lowering/stablehlo/custom_calls.py": "names of functions of CHLO",
    "lowering/keras/activation_functions.py": "layers as values of the attribute activation",
    "lowering/tflite/same_as_tensorflow.py": "kinds of TensorFlow that TensorFlow Lite spells alike",
    "lowering/tflite/stablehlo.py": "the operations of StableHLO in files of TensorFlow Lite",
    "lowering/keras/functions/": "functions of the same names as layers",
    # Several kinds together.
    "lowering/keras/cells.py": "the cell of a recurrent layer",
    "lowering/keras/policies.py": "layers whose weights may be quantized",
    "lowering/stablehlo/reduction.py": "operations that a softmax has beside its reductions",
    "lowering/onnx/ml/trees.py": "the reductions that combine the results of trees",
    "lowering/onnx/sequences/": "what holds the elements of a sequence is known by the kinds that make and extend it",
    "lowering/tensorflow/ranks.py": "the threshold of a dropout is known by the kinds around it",
    "lowering/tensorflow/resources/list_values.py": "a list that is not lowered yet is known by the kinds that make and read it",
}
"""Why files name kinds that other files register, by the beginning of their paths in `moir/`."""

_GENERATED = re.compile(r"generated by|scripts\.\w+` writes it")
_PART_OF_KINDS = 0.6
"""A text is a table of kinds if this part of its words are kinds."""


def is_generated(tree: ast.Module) -> bool:
    """Whether the docstring of a module says that a script writes it."""
    return _GENERATED.search(ast.get_docstring(tree) or "") is not None


def files_of(dialect: str) -> Iterator[Path]:
    """The files that may name kinds of a framework: those with its name in their paths."""
    for path in sorted(ROOT.rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(BUILDING):
            continue
        if any(word in re.split(r"[/._]", name) for word in FOLDERS.get(dialect, (dialect,))) or name == RECORDS.get(dialect):
            yield path


def literals(tree: ast.Module) -> Iterator[str]:
    """The literals of a module that can be names of kinds."""
    nodes = list(ast.walk(tree))
    overloads = {id(each.iter) for each in nodes if isinstance(each, ast.comprehension) and _name_of(each.target) == "overload"}
    for node in nodes:
        if id(node) in overloads:
            continue
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "lowers":
                yield from _texts(node.args)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            yield from _texts(node.elts)
        elif isinstance(node, ast.Dict):
            yield from _texts([key for key in node.keys if key is not None])
        elif isinstance(node, ast.Compare) and re.search("kind|stem", ast.unparse(node.left), re.IGNORECASE):
            yield from _texts(node.comparators)


def _name_of(node: ast.expr) -> str | None:
    """The name that an expression is; None for any other expression."""
    return node.id if isinstance(node, ast.Name) else None


def tables(tree: ast.Module, kinds: Collection[str]) -> Iterator[str]:
    """The words of the texts of a module that are tables of kinds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            words = node.value.replace(",", " ").replace(":", " ").split()
            # One word is a piece of a formatted message.
            if len(words) > 1 and len([word for word in words if word in kinds]) >= _PART_OF_KINDS * len(words):
                yield from words


def _texts(nodes: Collection[ast.expr]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def named(table: LoweringTable) -> dict[str, list[str]]:
    """The files that name each kind of a table, by their paths in `moir/`."""
    kinds = set(table.kinds())
    by_stem = defaultdict[str, set[str]](set)
    for kind in kinds:
        by_stem[kind.rpartition(".")[0] or kind].add(kind)
    names = kinds | by_stem.keys()
    files = defaultdict[str, set[str]](set)
    for path in files_of(table.framework):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if is_generated(tree):
            continue
        words = {*literals(tree), *tables(tree, names)}
        for word in words:
            # A name without overload stands for the overloads that the file names, or else for all.
            overloads = by_stem.get(word, set())
            for kind in {word} & kinds or overloads & words or overloads:
                files[kind].add(path.relative_to(ROOT).as_posix())
    return {kind: sorted(paths) for kind, paths in sorted(files.items())}


def in_several(files_by_kind: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The kinds that two or more files name, with these files."""
    return {kind: files for kind, files in files_by_kind.items() if len(files) > 1}


def without_reason(files_by_kind: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The kinds that two or more files name for which `REASONS` has no reason, with these files."""
    unexplained = {kind: [each for each in files if not each.startswith(tuple(REASONS))] for kind, files in files_by_kind.items()}
    return in_several(unexplained)


def main(dialects: Collection[str]) -> None:
    """Print the kinds without a reason, and the numbers of kinds, for each dialect."""
    for table in packages().values():
        if table.framework not in FRAMEWORKS or (dialects and table.framework not in dialects):
            continue
        files_by_kind = named(table)
        several, unexplained = in_several(files_by_kind), without_reason(files_by_kind)
        lowering = in_several({kind: [each for each in files if each.startswith("lowering/")] for kind, files in files_by_kind.items()})
        for kind, files in unexplained.items():
            print(f"{table.framework}.{kind}: {' '.join(files)}")
        print(
            f"{table.framework}: of {len(list(table.kinds()))} kinds {len(several)} are named in several files, "
            f"{len(lowering)} in several lowerings, {len(unexplained)} without a reason"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
