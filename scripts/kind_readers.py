"""What reads the names of kinds that a file has as literals: a kind of an operation, or something else.

    if op.KIND in ("Relu", "Elu")            OPERATION: an operation of the module is asked for its kind
    @tf.lowers("Relu")                       REGISTRATION: a handler is registered
    _FUNCTIONS[node.text("activation")]      VALUE: the value of an attribute, a function of the same name, or the end
                                             of the name of another kind
    if node.op == "Relu" (in a frontend)     FILE: a node of the model's file, before it is an operation
    FrameworkView(names={"Relu": "ReLU"})    INTERFACE: the names by which Model Optimizer's API knows kinds

A collection is read where its name is used, in its file and in files that import it: compared, looked up, or part of
another collection. A collection whose use cannot be told is taken for one of kinds of operations.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from enum import Enum

from moir.support.records import Record


class Reader(Enum):
    """What reads a name."""

    REGISTRATION = "registrations"
    OPERATION = "questions about operations"
    FILE = "nodes of files"
    INTERFACE = "names of Model Optimizer's API"
    VALUE = "values of attributes and parts of names"


FACTS = frozenset((Reader.REGISTRATION, Reader.OPERATION))
"""The readers that take a name for the kind of an operation."""

_REGISTERING = frozenset(("lowers", "lowers_each", "lowers_each_node"))
_INTERFACE = "FrameworkView"
_KIND = re.compile("kind|stem", re.IGNORECASE)
_OF_OPERATION = re.compile(r"\bKIND\b")
_OF_PART = re.compile(r"removeprefix|removesuffix|rpartition")
_PART_OF_KINDS = 0.6
"""A text is a table of kinds if this part of its words are kinds."""
_MOST_STEPS = 12
"""How many collections and names are followed from a literal."""


class Naming(Record):
    """A name of a kind in the code of a file.

    Args:
        word: the name.
        readers: what reads it; empty if nothing does.
    """

    word: str
    readers: frozenset[Reader]


class SourceFile:
    """The syntax of a file.

    Args:
        path: its path in the package.
        text: its source.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.tree = ast.parse(text)
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self.is_frontend = path.startswith("frontends/")
        self.uses: dict[str, list[ast.expr]] = defaultdict(list)
        """The expressions that read a variable or an attribute, by its name."""
        self.imported: set[str] = set()
        """The names that the file imports from other files."""
        self.sources: dict[str, list[str]] = defaultdict(list)
        """The texts of what is assigned to variables, by their names."""
        for node in ast.walk(self.tree):
            match node:
                case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
                    self.uses[name].append(node)
                case ast.ImportFrom(names=names):
                    self.imported.update(each.name for each in names if each.asname is None)
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.NamedExpr(target=ast.Name(id=name), value=value)
                    | ast.For(target=ast.Name(id=name), iter=value)
                    | ast.comprehension(target=ast.Name(id=name), iter=value)
                ):
                    self.sources[name].append(ast.unparse(value))
                case _:
                    pass

    def reader_of_key(self, key: ast.expr) -> Reader:
        """What an expression is that a name is compared with, or that a collection is asked for."""
        text = self._origin(key)
        if _OF_PART.search(text):
            return Reader.VALUE
        if _OF_OPERATION.search(text):
            return Reader.OPERATION
        if self.is_frontend:
            return Reader.FILE
        return Reader.OPERATION if _KIND.search(text) else Reader.VALUE

    def _origin(self, key: ast.expr) -> str:
        """The text of an expression; for a variable, with the texts of what the file assigns to it."""
        return " ".join((ast.unparse(key), *(self.sources[key.id] if isinstance(key, ast.Name) else ())))


class Readers:
    """What reads the names of kinds in the files of a framework."""

    def __init__(self, files: Collection[SourceFile]) -> None:
        self.files = files

    def namings(self, file: SourceFile, kinds: Collection[str]) -> Iterator[Naming]:
        """The names in a file, as literals and as words of texts that are tables."""
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or _is_documentation(file, node):
                continue
            words = node.value.replace(",", " ").replace(":", " ").split()
            found = [word for word in words if word in kinds]
            if not found or len(found) < _PART_OF_KINDS * len(words):
                continue
            # A text of one word that nothing reads as the name of a kind is any text.
            readers = frozenset(self._of(file, node, _MOST_STEPS, len(words) > 1))
            if len(words) == 1 and not readers:
                continue
            for word in found:
                yield Naming(word, readers or frozenset((Reader.OPERATION,)))

    def _of(self, file: SourceFile, node: ast.AST, steps: int, collected: bool) -> Iterator[Reader]:
        """What reads an expression: a collection of names if `collected`, else a name."""
        parent = file.parents.get(node)
        match parent:
            case _ if steps == 0:
                yield Reader.OPERATION
            case ast.Compare(left=left, comparators=[right]) if node is right:
                yield file.reader_of_key(left)
            case ast.Compare():
                pass
            case ast.MatchValue():
                yield from self._of_pattern(file, parent)
            case ast.Subscript(value=value, slice=key) if node is value:
                yield file.reader_of_key(key)
            case ast.Attribute(value=value) if node is value:
                yield from self._of_method(file, parent, steps, collected)
            case ast.Call():
                yield from self._of_argument(file, node, parent, steps, collected)
            case ast.keyword(arg=_):
                call = file.parents[parent]
                if isinstance(call, ast.Call):
                    yield from self._of_argument(file, parent, call, steps, collected)
                else:
                    yield Reader.OPERATION
            case ast.Dict(keys=keys, values=values):
                if node in keys or any(key is None and value is node for key, value in zip(keys, values, strict=True)):
                    yield from self._of(file, parent, steps - 1, True)
            case ast.Tuple() | ast.List() | ast.Set():
                yield from self._of(file, parent, steps - 1, True)
            case ast.Starred() | ast.BinOp() | ast.IfExp():
                yield from self._of(file, parent, steps - 1, collected)
            case ast.comprehension(iter=iterated) if node is iterated:
                if not _is_a_part(parent, file.parents[parent]):
                    yield from self._of(file, file.parents[parent], steps - 1, True)
            case ast.DictComp(key=key) if node is key:
                yield from self._of(file, parent, steps - 1, True)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield from self._of_variable(file, name, steps, collected)
            case ast.For(iter=iterated, body=body) if node is iterated:
                yield Reader.REGISTRATION if any(_registers(each) for each in body) else Reader.OPERATION
            case ast.Return() | ast.Assign() | ast.AnnAssign() if not isinstance(node, ast.Constant):
                yield Reader.FILE if file.is_frontend else Reader.OPERATION
            case _:
                pass

    def _of_pattern(self, file: SourceFile, pattern: ast.AST) -> Iterator[Reader]:
        """What a pattern of a match statement is compared with."""
        node: ast.AST = pattern
        while not isinstance(node, ast.Match):
            node = file.parents[node]
        yield file.reader_of_key(node.subject)

    def _of_method(self, file: SourceFile, attribute: ast.Attribute, steps: int, collected: bool) -> Iterator[Reader]:
        """What reads a collection by a method: `get` asks for a key, others return a part of it."""
        call = file.parents.get(attribute)
        if isinstance(call, ast.Call) and call.func is attribute:
            if attribute.attr in ("get", "pop") and call.args:
                yield file.reader_of_key(call.args[0])
            else:
                yield from self._of(file, call, steps - 1, collected)

    def _of_argument(self, file: SourceFile, node: ast.AST, call: ast.Call, steps: int, collected: bool) -> Iterator[Reader]:
        """What a call does with an argument that is a name or a collection."""
        function = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
        if node is call.func:
            return
        if function in _REGISTERING:
            yield Reader.REGISTRATION
        elif function == _INTERFACE:
            yield Reader.INTERFACE
        elif collected:
            yield from self._of(file, call, steps - 1, collected)
        # A name alone is that of an attribute, of a file, of an operation that is built, …

    def _of_variable(self, file: SourceFile, name: str, steps: int, collected: bool) -> Iterator[Reader]:
        """What reads a variable, in its file and in files that import it."""
        for each in self.files:
            if each is file or name in each.imported:
                for use in each.uses.get(name, ()):
                    yield from self._of(each, use, steps - 1, collected)


def _is_a_part(clause: ast.comprehension, comprehension: ast.AST) -> bool:
    """Whether a comprehension makes other names of the names that it goes through: f"Assign{name}", PREFIX + name.

    f"{name}.{overload}" is no other name, as the name before the point is the kind.
    """
    names = {each.id for each in ast.walk(clause.target) if isinstance(each, ast.Name)}
    element = comprehension.key if isinstance(comprehension, ast.DictComp) else getattr(comprehension, "elt", None)
    if isinstance(element, ast.BinOp):
        return True
    if not isinstance(element, ast.JoinedStr):
        return False
    match element.values:
        case [ast.FormattedValue(value=ast.Name(id=name)), ast.Constant(value=str(following)), *_] if name in names:
            return not following.startswith(".")
        case _:
            return True


def _registers(node: ast.AST) -> bool:
    """Whether a statement registers a handler."""
    return any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _REGISTERING for each in ast.walk(node)
    )


def _is_documentation(file: SourceFile, node: ast.Constant) -> bool:
    """Whether a literal is a docstring, or a part of a formatted text."""
    return isinstance(file.parents.get(node), ast.Expr | ast.JoinedStr)
