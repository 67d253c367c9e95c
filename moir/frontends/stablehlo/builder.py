"""The state of the conversion of a program: the names in use, and the numbers that are limited."""

from __future__ import annotations

from collections.abc import Sequence

from moir.errors import ModelFileError
from moir.frontends.stablehlo.program import Function, Operation, Program

MAXIMUM_CALLS = 1 << 16
"""The most calls of functions that are inlined."""

MAXIMUM_OPERATIONS = 1 << 22
"""The most operations of a program whose functions are inlined."""

MAXIMUM_DEPTH = 100
"""How deep calls and regions may be nested."""


class ProgramBuilder:
    """The state that all parts of the conversion of a program share: names, limits, errors.

    Args:
        program: the program.
        location: its path, for messages.
        platforms: the platforms of a file of `jax.export`.
    """

    def __init__(self, program: Program, location: str, platforms: Sequence[str] = ()) -> None:
        self.program = program
        self.location = location
        self.platforms = list(platforms)
        self.notes: list[str] = []
        self._names: set[str] = set()
        self._repeated: dict[str, int] = {}
        self._calls = 0
        self._built = 0
        self._depth = 0

    def error(self, reason: str, operation: str | None = None, name: str | None = None, hint: str | None = None) -> ModelFileError:
        """An error about the program, or about the operation `name` of kind `operation` in it."""
        return ModelFileError(reason, location=self.location, operation=operation, node=name, hint=hint)

    def main(self) -> Function:
        """The function that is the model: `main`, or the only public one. Raises ModelFileError if there is none."""
        functions = self.program.functions
        if "main" in functions:
            return functions["main"]
        public = [each for each in functions.values() if each.is_public]
        if len(public) == 1:
            return public[0]
        names = ", ".join(list(functions)[:5]) or "none"
        raise self.error(f"it has no function main; its functions are {names}")

    def platform(self) -> int:
        """The index of the CPU among the platforms of the program; 0 if it is not among them."""
        return self.platforms.index("cpu") if "cpu" in self.platforms else 0

    def argument_names(self, main: Function) -> list[str]:
        """Unique names of the arguments of main: those in their locations there, or in a function that main calls with
        them.

        An argument without such a name is `argN`, N its index.
        """
        names = {argument: argument.name for argument in main.body.arguments}
        for operation in main.body.operations:
            callee = self.program.functions.get(str(operation.attributes.get("callee", "")))
            if operation.kind in ("func.call", "call") and callee is not None:
                for operand, argument in zip(operation.operands, callee.body.arguments, strict=False):
                    if operand in names and argument.name:
                        names[operand] = names[operand] or argument.name
        argument_names: list[str] = []
        for index, name in enumerate(names.values()):
            unique = name or f"arg{index}"
            argument_names.append(unique if unique not in argument_names else f"{unique}_{index}")
        return argument_names

    def name(self, wanted: str) -> str:
        """The name `wanted`, with a number appended if another operation has it already."""
        unique = wanted
        while unique in self._names:
            self._repeated[wanted] = self._repeated.get(wanted, 0) + 1
            unique = f"{wanted}_{self._repeated[wanted]}"
        self._names.add(unique)
        return unique

    def function(self, name: str, caller: Operation) -> Function:
        """The function `name` that an operation calls. Raises ModelFileError if there is none, or too many calls."""
        self._calls += 1
        if self._calls > MAXIMUM_CALLS:
            raise self.error("it has too many calls")
        function = self.program.functions.get(name)
        if function is None:
            raise self.error(f"it calls a function {name!r} that is not there", caller.kind, caller.name)
        if len(function.body.arguments) != len(caller.operands):
            raise self.error(f"the function {name!r} is called with {len(caller.operands)} values", caller.kind, caller.name)
        return function

    def count(self) -> None:
        """Count an operation that is built. Raises ModelFileError if there are too many."""
        self._built += 1
        if self._built > MAXIMUM_OPERATIONS:
            raise self.error("it has too many operations")

    def enter(self) -> None:
        """Begin a call or a region. Raises ModelFileError if these are nested too deeply."""
        self._depth += 1
        if self._depth > MAXIMUM_DEPTH:
            raise self.error("calls or regions are nested too deeply", hint="a function that calls itself is not supported")

    def leave(self) -> None:
        """End the call or the region that `enter` began."""
        self._depth -= 1
