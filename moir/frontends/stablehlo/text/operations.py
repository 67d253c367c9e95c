"""Operations and blocks in a text of MLIR.

%0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>     the generic form of any operation
%0 = stablehlo.add %a, %b : tensor<4xf32>                                          its custom form
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from moir.frontends.stablehlo.program import Block, FunctionType, Operation, TensorType, Type, Value
from moir.frontends.stablehlo.text.attributes import attribute_of, dictionary_of
from moir.frontends.stablehlo.text.pretty import PrettyForm, pretty_form
from moir.frontends.stablehlo.text.scanner import Scanner
from moir.frontends.stablehlo.text.shardy import shardy_form
from moir.frontends.stablehlo.text.types import result_types, type_of, types_in_brackets

DIALECTS = ("stablehlo.", "chlo.", "func.", "mhlo.", "builtin.", "sdy.", "vhlo.")
MAXIMUM_RESULTS = 1 << 14


def kind_of(name: str) -> str:
    """The kind of an operation by its name: the prefixes `stablehlo.` and `mhlo.` are left out, others remain."""
    return name.removeprefix("stablehlo.").removeprefix("mhlo.")


class OperationReader:
    """Reads operations from a text.

    Args:
        text: the text.
        location: the path of the file, for messages.
    """

    def __init__(self, text: str, location: str) -> None:
        self.words = Scanner(text, location)
        self.scopes: list[dict[str, list[Value]]] = [{}]
        """The values by their names, those of inner regions last."""

    # Values

    def value(self) -> Value:
        """Read the name of a value, `%x` or `%x#1`; returns the value. Raises ModelFileError if it is not defined."""
        name, _, number = self.words.word.partition("#")
        values = next((scope[name] for scope in reversed(self.scopes) if name in scope), ())
        if number and not number.isdecimal():
            self.words.fail(f"{number[:40]!r} is not a number of a result")
        index = int(number[:9] or 0)
        if index >= len(values):
            self.words.fail(f"there is no value {self.words.word[:40]!r}")
        self.words.advance()
        return values[index]

    def values(self) -> list[Value]:
        """Read names of values with commas between them; returns the values."""
        values: list[Value] = []
        while self.words.word.startswith("%"):
            values.append(self.value())
            if not self.words.takes(","):
                break
        return values

    def define(self, name: str, values: list[Value]) -> None:
        """Bind a name to the results of an operation, or to one argument."""
        self.scopes[-1][name] = values

    # Blocks and operations

    def region(self) -> Block:
        """Read a region of one block, which may have a label with arguments; returns the block."""
        words = self.words
        words.expect("{")
        words.enter()
        self.scopes.append({})
        block = Block([])
        if words.word.startswith("^"):
            words.advance()
            if words.takes("("):
                while not words.takes(")"):
                    name = words.advance()
                    words.expect(":")
                    value = Value(type_of(words))
                    value.name = words.location_name()
                    block.arguments.append(value)
                    self.define(name, [value])
                    words.takes(",")
                    if not words.word:
                        words.fail("a block is not closed")
            words.expect(":")
        self.operations(block, "}")
        self.scopes.pop()
        words.leave()
        return block

    def operations(self, block: Block, end: str) -> None:
        words = self.words
        while not words.takes(end):
            if not words.word:
                words.fail("a block is not closed")
            if words.word.startswith("^"):
                words.fail("several blocks in a region are not supported")
            block.operations.append(self._operation())

    def _operation(self) -> Operation:
        words = self.words
        names: list[tuple[str, int]] = []
        while words.word.startswith("%"):
            name, _, _ = words.advance().partition("#")
            count = 1
            if words.takes(":"):
                count = words.integer()
            if not 0 < count <= MAXIMUM_RESULTS:
                words.fail(f"an operation with {count} results")
            names.append((name, count))
            if not words.takes(","):
                break
        if names:
            words.expect("=")
        operation = self._generic() if words.word.startswith('"') else self._pretty()
        operation.name = words.location_name() or operation.name
        if names and sum(count for _, count in names) != len(operation.results):
            words.fail(f"{operation.kind} has {len(operation.results)} results, not {sum(count for _, count in names)}")
        index = 0
        for name, count in names:
            self.define(name, operation.results[index : index + count])
            index += count
        return operation

    def _generic(self) -> Operation:
        words = self.words
        kind = kind_of(words.string())
        words.expect("(")
        operands: list[Value] = []
        while not words.takes(")"):
            operands.append(self.value())
            words.takes(",")
        attributes: dict[str, Any] = {}
        regions: list[Block] = []
        if words.takes("<"):
            attributes = dictionary_of(words)
            words.expect(">")
        if words.takes("("):
            while not words.takes(")"):
                regions.append(self.region())
                words.takes(",")
        if words.word == "{":
            attributes |= dictionary_of(words)
        words.expect(":")
        function_type = type_of(words)
        outputs = function_type.outputs if isinstance(function_type, FunctionType) else ()
        return Operation(kind, operands, attributes, regions, [Value(each) for each in outputs])

    def _pretty(self) -> Operation:
        words = self.words
        name = words.advance()
        if name in ("return", "call"):
            name = f"func.{name}"
        if not name.startswith(DIALECTS):
            words.fail(f"the operation {name[:40]!r} is not supported")
        kind = kind_of(name)
        if kind in _WITH_REGIONS:
            return _WITH_REGIONS[kind](self)
        if name.startswith("sdy.") and kind != "sdy.return":
            return self._shardy(kind)
        form = self.form(kind)
        return self._finished(kind, form)

    def _shardy(self, kind: str) -> Operation:
        operands, arguments = shardy_form(self.words, kind, self.value)
        regions = [] if arguments is None else [self._region_of([name for name, _ in arguments], [value for _, value in arguments])]
        operation = self._finished(kind, PrettyForm(operands, {}))
        operation.regions = regions
        return operation

    def form(self, kind: str) -> PrettyForm:
        """Read the operands and attributes of an operation in its custom form; stops before the types."""
        return pretty_form(self.words, kind, self.value)

    def _finished(self, kind: str, form: PrettyForm) -> Operation:
        words = self.words
        types: list[Type] = []
        arrow = False
        if words.takes(":"):
            if words.word == "(":
                inputs = types_in_brackets(words)
                if words.takes("->"):
                    arrow, types = True, result_types(words)
                else:
                    types = inputs
            else:
                types = [type_of(words)]
                while words.takes(","):
                    types.append(type_of(words))
                if words.takes("->"):
                    arrow, types = True, result_types(words)
        return Operation(kind, form.operands, form.attributes, [], [Value(each) for each in outputs_of(kind, form, types, arrow=arrow)])

    def while_(self) -> Operation:
        """Read `while(%i = %a, …) : types cond { … } do { … }`."""
        words = self.words
        words.expect("(")
        names: list[str] = []
        operands: list[Value] = []
        while not words.takes(")"):
            names.append(words.advance())
            words.expect("=")
            operands.append(self.value())
            words.takes(",")
        types: list[Type] = []
        if words.takes(":"):
            types = [type_of(words)]
            while words.takes(","):
                types.append(type_of(words))
        if words.takes("attributes"):
            dictionary_of(words)
        regions: list[Block] = []
        for word in ("cond", "do"):
            words.expect(word)
            arguments = [Value(each) for each in types]
            regions.append(self._region_of(names, arguments))
        return Operation("while", operands, {}, regions, [Value(each) for each in types])

    def _region_of(self, names: Sequence[str], arguments: list[Value]) -> Block:
        """Read a region whose arguments are declared before it, with the given names.

        Raises ModelFileError if there are not as many names as arguments.
        """
        if len(names) != len(arguments):
            self.words.fail(f"{len(names)} values with {len(arguments)} types")
        self.scopes.append({name: [value] for name, value in zip(names, arguments, strict=True)})
        block = self.region()
        self.scopes.pop()
        block.arguments = arguments
        return block

    def reduce(self) -> Operation:
        """Read `reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : …`, or with `reducer(…) { … }`."""
        words = self.words
        operands, initial = list[Value](), list[Value]()
        while words.takes("("):
            operands.append(self.value())
            words.expect("init")
            words.expect(":")
            initial.append(self.value())
            words.expect(")")
            words.takes(",")
        applied = ""
        if words.takes("applies"):
            applied = kind_of(words.advance())
        attributes: dict[str, Any] = {}
        while words.word not in (":", ""):
            name = words.advance()
            if name == "across":
                continue
            if words.takes("="):
                attributes[name] = attribute_of(words)
            elif name == "{":
                words.fail("attributes of a reduce are not supported")
        words.expect(":")
        reduced_type = type_of(words)
        outputs = reduced_type.outputs if isinstance(reduced_type, FunctionType) else ()
        location = words.location_name()
        block = self._applied(applied, outputs) if applied else self._reducer(outputs)
        return Operation("reduce", [*operands, *initial], attributes, [block], [Value(each) for each in outputs], location)

    def scan(self) -> Operation:
        """Read `scan(%x) inits(%s) dimension=0 { ^bb0(%a: t, %b: t): … } : (types) -> (types)`."""
        words = self.words
        groups: list[list[Value]] = []
        for word in ("", "inits"):
            if word:
                words.expect(word)
            words.expect("(")
            groups.append(self.values())
            words.expect(")")
        attributes: dict[str, Any] = {}
        while words.word not in ("{", ""):
            name = words.advance()
            words.expect("=")
            attributes[name] = words.integer() if words.word.isdigit() else attribute_of(words)
            words.takes(",")
        region = self.region()
        operation = self._finished("chlo.scan", PrettyForm([*groups[0], *groups[1]], {}))
        operation.attributes = {**attributes, "operandSegmentSizes": [len(each) for each in groups]}
        operation.regions = [region]
        return operation

    def _applied(self, kind: str, outputs: Sequence[Type]) -> Block:
        """The body of a reduction that is given as a single operation (`applies stablehlo.add`); `outputs` are the
        types of its results.
        """
        first = outputs[0] if outputs else None
        if not isinstance(first, TensorType):
            self.words.fail("a reduction has no tensor as result")
        scalar = TensorType((), first.element)
        arguments = [Value(scalar), Value(scalar)]
        result = Value(scalar)
        return Block(arguments, [Operation(kind, [*arguments], {}, [], [result]), Operation("return", [result], {})])

    def _reducer(self, outputs: Sequence[Type]) -> Block:
        """Read `reducer(%a: t, %b: t) (%c: t, %d: t) { … }`, a pair of arguments for each operand; returns the body.

        The arguments of the block are the first of all pairs, then the second.
        """
        words = self.words
        words.expect("reducer")
        firsts, seconds = list[tuple[str, Value]](), list[tuple[str, Value]]()
        while words.takes("("):
            for groups in (firsts, seconds):
                name = words.advance()
                words.expect(":")
                value = Value(type_of(words))
                words.location_name()
                groups.append((name, value))
                words.takes(",")
            words.expect(")")
        del outputs
        pairs = [*firsts, *seconds]
        return self._region_of([name for name, _ in pairs], [value for _, value in pairs])


_WITH_REGIONS: Mapping[str, Callable[[OperationReader], Operation]] = {
    "chlo.scan": OperationReader.scan,
    "reduce": OperationReader.reduce,
    "while": OperationReader.while_,
}
"""Operations whose custom form has regions."""

_LAST_TYPE = frozenset(("select", "clamp"))


def outputs_of(kind: str, form: PrettyForm, types: list[Type], *, arrow: bool) -> list[Type]:
    """The types of the results of an operation in its custom form.

    `types` are those after the colon; with `arrow` they are those after `->`, which are the types of the results.
    """
    if kind in ("return", "func.return", "sdy.return", "sdy.sharding_group") or (kind == "custom_call" and arrow and not types):
        return []
    if arrow:
        return types
    if kind in _LAST_TYPE:
        return types[-1:]
    if kind in ("optimization_barrier", "tuple"):
        return types
    if not types and "value" in form.attributes:
        value = form.attributes["value"]
        return [value.type] if hasattr(value, "type") else []
    return types[:1]
