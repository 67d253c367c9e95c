"""The reference of the Python interface: which names it shows. mkdocstrings reads their signatures and docstrings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import isclass, ismodule

import moir
from moir import errors

HEAD = """# Python

The names of `moir` are imported when they are first used, so that `import moir` takes no time.
"""

SECTIONS: Mapping[str, Sequence[str]] = {
    "What functions take and return": (
        "moir.conversion.Observer",
        "moir.emit.write.WrittenModel",
        "moir.pipeline.default_pipeline",
    ),
    "For lowerings": (
        "moir.lowering.table.LoweringTable",
        "moir.lowering.binder.LoweringNode",
        "moir.rewriting.builder.OpBuilder",
    ),
    "For passes": (
        "moir.rewriting.rules.RulePass",
        "moir.rewriting.rules.FusionRule",
        "moir.rewriting.rules.Match",
        "moir.rewriting.driver.PatternPass",
        "moir.rewriting.driver.Pattern",
        "moir.rewriting.driver.Rewriter",
    ),
    "For operations": (
        "moir.dialects.opset.interfaces.operation.OpsetOp",
        "moir.dialects.opset.interfaces.properties",
    ),
}
"""The names of the interface besides those of the package itself and the errors, by section."""


def functions() -> list[str]:
    """The functions of the package, with their qualified names; classes and modules have a place of their own below."""
    members = {name: getattr(moir, name) for name in moir.__all__}
    return [f"moir.{name}" for name, value in members.items() if callable(value) and not isclass(value) and not ismodule(value)]


def exceptions() -> list[str]:
    """The exceptions of the package, with their qualified names."""
    classes = [value for value in vars(errors).values() if isclass(value) and issubclass(value, Exception)]
    return [f"{value.__module__}.{value.__name__}" for value in classes if value.__module__ == errors.__name__]


def sections() -> dict[str, Sequence[str]]:
    """The names by section, in the order of the page."""
    return {"Converting": functions(), "Errors": exceptions(), **SECTIONS}


def document() -> str:
    """The text of the page."""
    parts = [HEAD.strip()]
    for title, names in sections().items():
        parts += [f"## {title}", *(f"::: {name}" for name in names)]
    return "\n\n".join(parts) + "\n"
