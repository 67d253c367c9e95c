"""Operations, blocks, functions and modules in a text of MLIR.

%0 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>     the generic form of any operation
%0 = stablehlo.add %a, %b : tensor<4xf32>                                          its custom form
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moir.frontends.stablehlo.program import Block, Function, FunctionType, Operation, Program, TensorType, Type, Value, dictionaries
from moir.frontends.stablehlo.text.pretty import PrettyForm, pretty_form
from moir.frontends.stablehlo.text.scanner import Scanner
from moir.frontends.stablehlo.text.types import attribute_of, dictionary_of, result_types, type_of, types_in_brackets

DIALECTS = ("stablehlo.", "chlo.", "func.", "mhlo.", "builtin.", "sdy.", "vhlo.")
MAXIMUM_RESULTS = 1 << 14


def kind_of(name: str) -> str:
    """The kind of an operation: StableHLO's own kinds have no prefix."""
    return name.removeprefix("stablehlo.").removeprefix("mhlo.")


class TextReader:
    """Reads a program from a text.

    Args:
        text: the text.
        location: the path of the file, for messages.
    """

    def __init__(self, text: str, location: str) -> None:
        self.words = Scanner(text, location)
        self._scopes: list[dict[str, list[Value]]] = [{}]
        self._functions: dict[str, Function] = {}

    # Values

    def value(self) -> Value:
        """The value whose name is the current word."""
        name, _, number = self.words.word.partition("#")
        values = next((scope[name] for scope in reversed(self._scopes) if name in scope), ())
        if number and not number.isdecimal():
            self.words.fail(f"{number[:40]!r} is not a number of a result")
        index = int(number[:9] or 0)
        if index >= len(values):
            self.words.fail(f"there is no value {self.words.word[:40]!r}")
        self.words.advance()
        return values[index]

    def values(self) -> list[Value]:
        """Values with commas between them."""
        found: list[Value] = []
        while self.words.word.startswith("%"):
            found.append(self.value())
            if not self.words.takes(","):
                break
        return found

    def define(self, name: str, values: list[Value]) -> None:
        """Give a name to results or an argument."""
        self._scopes[-1][name] = values

    # Modules and functions

    def program(self) -> Program:
        """The program. Raises ModelFileError if the text is neither a module nor a list of functions."""
        words = self.words
        self._skip_aliases()
        name = ""
        if words.word.startswith('"') and words.word.strip('"') == "builtin.module":
            words.advance()
            words.expect("(")
            words.expect(")")
            properties: dict[str, Any] = {}
            if words.takes("<"):
                properties = dictionary_of(words)
                words.expect(">")
            name = str(properties.get("sym_name", ""))
            words.expect("(")
            self._module_body()
            words.expect(")")
        elif words.word == "func.func":
            self._functions_until("")
        else:
            if words.word not in ("module", "builtin.module"):
                words.fail("this is not a module")
            words.advance()
            name = words.advance()[1:] if words.word.startswith("@") else ""
            if words.takes("attributes"):
                dictionary_of(words)
            self._module_body()
        return Program(name, self._functions)

    def _skip_aliases(self) -> None:
        words = self.words
        while words.word.startswith(("#", "!")):
            words.advance()
            words.expect("=")
            if words.word == "loc":
                words.place()
            else:
                attribute_of(words)

    def _module_body(self) -> None:
        self.words.expect("{")
        self._functions_until("}")
        self.words.advance()

    def _functions_until(self, end: str) -> None:
        """The functions before a word; the empty word is the end of the text."""
        words = self.words
        while words.word != end:
            if not words.word:
                words.fail("the module is not closed")
            if words.word.strip('"') == "func.func":
                self._function(is_generic=words.word.startswith('"'))
            elif words.word.startswith(("sdy.", '"sdy.')):
                self._skip_statement()
            elif words.word.startswith(("#", "!")):
                self._skip_aliases()
            else:
                words.fail(f"{words.word[:40]!r} in a module is not supported")

    def _skip_statement(self) -> None:
        """Skip a declaration of shardings, which ends with its line."""
        words = self.words
        words.rest_until("\n")

    def _function(self, *, is_generic: bool) -> None:
        function = self._generic_function() if is_generic else self._pretty_function()
        if function.name in self._functions:
            self.words.fail(f"there are two functions {function.name!r}")
        self._functions[function.name] = function

    def _generic_function(self) -> Function:
        words = self.words
        words.advance()
        words.expect("(")
        words.expect(")")
        words.expect("<")
        properties = dictionary_of(words)
        words.expect(">")
        words.expect("(")
        block = self._region()
        words.expect(")")
        if words.word == "{":
            dictionary_of(words)
        self._signature_end()
        return Function(
            str(properties.get("sym_name", "")),
            block,
            dictionaries(properties.get("arg_attrs")),
            dictionaries(properties.get("res_attrs")),
            properties.get("sym_visibility") != "private",
        )

    def _signature_end(self) -> None:
        if self.words.takes(":"):
            type_of(self.words)
        self.words.place()

    def _pretty_function(self) -> Function:
        words = self.words
        words.advance()
        is_public = True
        if words.word in ("public", "private", "nested"):
            is_public = words.advance() == "public"
        name = words.advance()
        if not name.startswith("@"):
            words.fail("a function has no name")
        self._scopes.append({})
        arguments: list[Value] = []
        attributes: list[dict[str, Any]] = []
        words.expect("(")
        while not words.takes(")"):
            argument = words.advance()
            words.expect(":")
            value = Value(type_of(words))
            attributes.append(dictionary_of(words) if words.at("{") else {})
            value.name = words.place()
            arguments.append(value)
            self.define(argument, [value])
            words.takes(",")
            if not words.word:
                words.fail("a function is not closed")
        results: list[dict[str, Any]] = []
        if words.takes("->"):
            results = self._result_attributes()
        if words.takes("attributes"):
            dictionary_of(words)
        block = Block(arguments)
        words.expect("{")
        self._operations(block, "}")
        words.place()
        self._scopes.pop()
        return Function(name[2:-1] if name.startswith('@"') else name[1:], block, attributes, results, is_public)

    def _result_attributes(self) -> list[dict[str, Any]]:
        words = self.words
        if words.word != "(":
            type_of(words)
            return [{}]
        words.advance()
        found: list[dict[str, Any]] = []
        while not words.takes(")"):
            type_of(words)
            found.append(dictionary_of(words) if words.at("{") else {})
            words.takes(",")
        return found

    # Blocks and operations

    def _region(self) -> Block:
        """A region of one block, which may have a label with arguments."""
        words = self.words
        words.expect("{")
        words.enter()
        self._scopes.append({})
        block = Block([])
        if words.word.startswith("^"):
            words.advance()
            if words.takes("("):
                while not words.takes(")"):
                    name = words.advance()
                    words.expect(":")
                    value = Value(type_of(words))
                    value.name = words.place()
                    block.arguments.append(value)
                    self.define(name, [value])
                    words.takes(",")
                    if not words.word:
                        words.fail("a block is not closed")
            words.expect(":")
        self._operations(block, "}")
        self._scopes.pop()
        words.leave()
        return block

    def _operations(self, block: Block, end: str) -> None:
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
        operation.name = words.place() or operation.name
        if names and sum(count for _, count in names) != len(operation.results):
            words.fail(f"{operation.kind} has {len(operation.results)} results, not {sum(count for _, count in names)}")
        place = 0
        for name, count in names:
            self.define(name, operation.results[place : place + count])
            place += count
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
                regions.append(self._region())
                words.takes(",")
        if words.word == "{":
            attributes |= dictionary_of(words)
        words.expect(":")
        found = type_of(words)
        outputs = found.outputs if isinstance(found, FunctionType) else ()
        return Operation(kind, operands, attributes, regions, [Value(each) for each in outputs])

    def _pretty(self) -> Operation:
        words = self.words
        name = words.advance()
        if name in ("return", "call"):
            name = f"func.{name}"
        if not name.startswith(DIALECTS):
            words.fail(f"the operation {name[:40]!r} is not supported")
        kind = kind_of(name)
        if kind == "while":
            return self._while()
        if kind == "reduce":
            return self._reduce()
        form = self.form(kind)
        return self._finished(kind, form)

    def form(self, kind: str) -> PrettyForm:
        """The operands and clauses of an operation in its custom form, up to its types."""
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

    def _while(self) -> Operation:
        """`while(%i = %a, …) : types cond { … } do { … }`."""
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
        """A region whose arguments an operation declares before it."""
        if len(names) != len(arguments):
            self.words.fail(f"{len(names)} values with {len(arguments)} types")
        self._scopes.append({name: [value] for name, value in zip(names, arguments, strict=True)})
        block = self._region()
        self._scopes.pop()
        block.arguments = arguments
        return block

    def _reduce(self) -> Operation:
        """`reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : …`, or with `reducer(…) { … }`."""
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
        found = type_of(words)
        outputs = found.outputs if isinstance(found, FunctionType) else ()
        place = words.place()
        block = self._applied(applied, outputs) if applied else self._reducer(outputs)
        return Operation("reduce", [*operands, *initial], attributes, [block], [Value(each) for each in outputs], place)

    def _applied(self, kind: str, outputs: Sequence[Type]) -> Block:
        """The function of a reduction that is given as the kind of a single operation."""
        first = outputs[0] if outputs else None
        if not isinstance(first, TensorType):
            self.words.fail("a reduction has no tensor as result")
        scalar = TensorType((), first.element)
        arguments = [Value(scalar), Value(scalar)]
        result = Value(scalar)
        return Block(arguments, [Operation(kind, [*arguments], {}, [], [result]), Operation("return", [result], {})])

    def _reducer(self, outputs: Sequence[Type]) -> Block:
        """`reducer(%a: t, %b: t) (%c: t, %d: t) { … }`: the pair of arguments for each operand; the arguments of the
        block are the first of all pairs, then the second.
        """
        words = self.words
        words.expect("reducer")
        firsts, seconds = list[tuple[str, Value]](), list[tuple[str, Value]]()
        while words.takes("("):
            for found in (firsts, seconds):
                name = words.advance()
                words.expect(":")
                value = Value(type_of(words))
                words.place()
                found.append((name, value))
                words.takes(",")
            words.expect(")")
        del outputs
        pairs = [*firsts, *seconds]
        return self._region_of([name for name, _ in pairs], [value for _, value in pairs])


_LAST_TYPE = frozenset(("select", "clamp"))


def outputs_of(kind: str, form: PrettyForm, types: list[Type], *, arrow: bool) -> list[Type]:
    """The types of the results of an operation in its custom form."""
    if kind in ("return", "func.return", "sdy.return") or (kind == "custom_call" and arrow and not types):
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
