"""All names that a file imports from Model Optimizer's modules and that moir does not have.

Python stops at the first import that fails, but a person who ports a file needs all of them.
"""

from __future__ import annotations

import ast
from pathlib import Path

from moir.extensions.importing import module_of_extension
from moir.model_optimizer.import_paths import canonical, is_module, resolve


def missing_names(path: Path) -> list[tuple[int, str]]:
    """The line and the full name of each missing import, in the order of the file; none if it cannot be parsed."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return []
    names: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names if _is_missing(node.module, alias.name)]
        elif isinstance(node, ast.Import):
            names += [(node.lineno, alias.name) for alias in node.names if _is_missing(alias.name, None)]
    return sorted(names)


def _is_missing(fullname: str, attribute: str | None) -> bool:
    name = canonical(fullname)
    if name is None or module_of_extension(name) is not None:
        return False
    if not is_module(name):
        return True
    if attribute in (None, "*") or is_module(f"{name}.{attribute}" if name else str(attribute)):
        return False
    try:
        resolve(name, str(attribute))
    except AttributeError:
        return True
    return False
