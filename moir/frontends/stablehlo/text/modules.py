"""Modules and functions in a text of MLIR.

module @jit_f { func.func public @main(%a: tensor<4xf32> loc("x")) -> (tensor<4xf32> {jax.result_info = "y"}) { … } }
"""

from __future__ import annotations

from typing import Any

from moir.frontends.stablehlo.program import Block, Function, Program, Value, dictionaries
from moir.frontends.stablehlo.text.attributes import attribute_of, dictionary_of
from moir.frontends.stablehlo.text.operations import OperationReader
from moir.frontends.stablehlo.text.types import type_of


class ModuleReader(OperationReader):
    """Reads a program from a text.

    Args:
        text: the text.
        location: the path of the file, for messages.
    """

    def __init__(self, text: str, location: str) -> None:
        super().__init__(text, location)
        self._functions: dict[str, Function] = {}

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
                words.location_name()
            else:
                attribute_of(words)

    def _module_body(self) -> None:
        self.words.expect("{")
        self._functions_until("}")
        self.words.advance()

    def _functions_until(self, end: str) -> None:
        """Read the functions up to the word `end`; the empty word is the end of the text."""
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
        block = self.region()
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
        self.words.location_name()

    def _pretty_function(self) -> Function:
        words = self.words
        words.advance()
        is_public = True
        if words.word in ("public", "private", "nested"):
            is_public = words.advance() == "public"
        name = words.advance()
        if not name.startswith("@"):
            words.fail("a function has no name")
        self.scopes.append({})
        arguments: list[Value] = []
        attributes: list[dict[str, Any]] = []
        words.expect("(")
        while not words.takes(")"):
            argument = words.advance()
            words.expect(":")
            value = Value(type_of(words))
            attributes.append(dictionary_of(words) if words.at("{") else {})
            value.name = words.location_name()
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
        self.operations(block, "}")
        words.location_name()
        self.scopes.pop()
        return Function(name[2:-1] if name.startswith('@"') else name[1:], block, attributes, results, is_public)

    def _result_attributes(self) -> list[dict[str, Any]]:
        words = self.words
        if words.word != "(":
            type_of(words)
            return [{}]
        words.advance()
        attributes: list[dict[str, Any]] = []
        while not words.takes(")"):
            type_of(words)
            attributes.append(dictionary_of(words) if words.at("{") else {})
            words.takes(",")
        return attributes
