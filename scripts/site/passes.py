"""The reference of the passes, made of the pipeline and of the docstrings of their files."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from importlib import import_module

from moir.frameworks import lowered
from moir.options import ConversionOptions
from moir.parameters import requesting
from moir.pipeline import MIDDLE, PASS_MODULES, back, every_pass, front, load_pass, lowering_passes, pass_names, pipeline_names
from moir.support.xdsl_passes import module_pass_class
from moir.targets.form_pass import FormPass, RefusalPass
from moir.targets.registry import OPENVINO_CPU, form_modules

HEAD = """# Passes

Every pass, in the order in which the pipeline runs it first, with the IR before and after it (`->`) as its file has it.
The text is shortened: constants stand in the place of their operands, types and names are left out. The numbers are
those of the default pipeline, which `moir passes` prints and the names of dumps begin with.

`moir-opt MODEL -p NAME,NAME` runs single passes. Anchors, which do nothing, mark the phases: transformations of
extensions name them in `run_after` and `run_before`.
"""

_PHASES = (
    ("Front: from the framework's dialect to operation sets", front(lowered())),
    ("Middle: simplification and fusion", MIDDLE),
    ("Back: preparation of the IR", back(OPENVINO_CPU)),
)
_LOWERING_MODULE = "moir.lowering.driver"


def markdown(docstring: str) -> str:
    """The docstring of a module as Markdown: paragraphs with lines that are indented or begin with `->` are IR."""
    return "\n\n".join(_paragraph(text) for text in re.split(r"\n{2,}", docstring.strip()))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    is_code = any(line.startswith(("    ", "->")) for line in lines) and not re.match(r" ?\d+\. ", text)
    if not is_code:
        return text.replace("<", "&lt;") if "`" not in text else text
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    return "```mlir\n" + "\n".join(line[indent:] for line in lines) + "\n```"


def source(name: str) -> str:
    """The module of a pass; empty for an anchor."""
    return _LOWERING_MODULE if name in lowering_passes() else {**PASS_MODULES, **form_modules()}.get(name, "")


def description(name: str) -> str:
    """The description of a pass in the docstring of its file, without the name at the beginning; for an anchor, the
    state of the module there.

    A form of a target is described by its patterns.
    """
    module = source(name)
    made = load_pass(name)
    if issubclass(made, RefusalPass):
        return inspect.getdoc(made) or ""
    if issubclass(made, FormPass):
        return "\n\n".join(dict.fromkeys(inspect.getdoc(type(each)) or "" for each in made().patterns()))
    if not module:
        return inspect.getdoc(load_pass(name)) or ""
    summary, _, rest = (import_module(module).__doc__ or "").strip().partition("\n")
    # The file of the lowering driver is about all of its passes, and each has a docstring of its own.
    summary = (inspect.getdoc(load_pass(name)) or "") if name in lowering_passes() else re.sub(r"^`[\w-]+`: ", "", summary)
    # Formulas keep their case.
    return re.sub(r"^[a-z]+ (?=[A-Za-z])", lambda match: match[0].capitalize(), summary) + f"\n{rest}"


def has_example(name: str) -> bool:
    """Whether the description of a pass shows IR."""
    return "```mlir" in markdown(description(name))


def positions(name: str) -> str:
    """Where a pass is in the pipelines of the frameworks, as text; empty if it is in none."""
    asking = requesting(name)
    if not asking or ConversionOptions().pass_options(name) is not None:
        return _positions(name, ConversionOptions())
    flags = " or ".join(f"`{each.flag}`" for each in asking)
    return f"{_neighbour(name)}, with {flags}"


def _neighbour(name: str) -> str:
    """After which pass one is that runs on request only."""
    names = every_pass()
    position = names.index(name)
    return f"after {names[position - 1]}"


def _positions(name: str, options: ConversionOptions) -> str:
    results = {
        each.title: [str(number) for number, other in enumerate(pipeline_names(each.dialect, options), 1) if other == name]
        for each in lowered()
    }
    return "; ".join(f"{title}: {', '.join(numbers)}" for title, numbers in results.items() if numbers)


def parameters(name: str) -> str:
    """The parameters of a pass with their defaults, as pipelines write them."""
    own_fields = [each for each in fields(module_pass_class(load_pass(name))) if each.name != "name" and each.default is not MISSING]
    texts = [f"{each.name.replace('_', '-')}={str(each.default).lower()}" for each in own_fields if each.init]
    return f"`{name}{{{' '.join(texts)}}}`" if texts else ""


def section(name: str) -> str:
    """The section of a pass."""
    framework = lowering_passes().get(name)
    anchor = "" if framework is None else framework.title.lower().replace(" ", "-")
    kinds = f"[the lowerings of {framework.title}](lowerings.md#{anchor})" if framework else ""
    facts = [("In the pipeline", positions(name)), ("Parameters", parameters(name)), ("Kinds", kinds), ("File", _path(name))]
    listed = "".join(f"- {label}: {text}\n" for label, text in facts if text)
    return f"### {name}\n\n{markdown(description(name))}\n\n{listed}".strip()


def _path(name: str) -> str:
    module = source(name)
    return f"`{module.replace('.', '/')}.py`" if module else ""


def document() -> str:
    """The text of the page."""
    parts = [HEAD.strip()]
    shown: set[str] = set()
    others = tuple(name for name in pass_names() if not any(name in names for _, names in _PHASES))
    for title, names in (*_PHASES, ("In no default pipeline", others)):
        parts += [f"## {title}", *(section(name) for name in _first(names, shown))]
    return "\n\n".join(parts) + "\n"


def _first(names: Iterable[str], shown: set[str]) -> list[str]:
    """The names that have not been shown, once each; they count as shown from now on."""
    new = [name for name in dict.fromkeys(names) if name not in shown]
    shown.update(new)
    return new
