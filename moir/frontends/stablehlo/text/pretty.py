"""The pretty forms of StableHLO's operations: operands, clauses and words up to the types.

%x, dims = [1, 0]                              transpose
LT, %a, %b, SIGNED                             compare
%a, %b, contracting_dims = [1] x [0]           dot_general
%x [0:2, 1:5:2]                                slice
(%x, %w) dim_numbers = […]x[…]->[…], window = {…} {…}  convolution
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from moir.frontends.stablehlo.program import Symbol, Value
from moir.frontends.stablehlo.text.attributes import attribute_of, convolution_dimensions, dense_of, dictionary_of
from moir.frontends.stablehlo.text.scanner import Scanner
from moir.support.decimals import decimal_of


@dataclass
class PrettyForm:
    """The operands and attributes of an operation in its pretty form."""

    operands: list[Value]
    attributes: dict[str, Any]


_NAMES: dict[tuple[str, str], str] = {
    ("all_gather", "dim"): "all_gather_dim",
    ("broadcast_in_dim", "dims"): "broadcast_dimensions",
    ("concatenate", "dim"): "dimension",
    ("dynamic_broadcast_in_dim", "dims"): "broadcast_dimensions",
    ("dynamic_iota", "dim"): "iota_dimension",
    ("dynamic_slice", "sizes"): "slice_sizes",
    ("fft", "length"): "fft_length",
    ("fft", "type"): "fft_type",
    ("get_dimension_size", "dim"): "dimension",
    ("iota", "dim"): "iota_dimension",
    ("map", "dims"): "dimensions",
    ("pad", "high"): "edge_padding_high",
    ("pad", "interior"): "interior_padding",
    ("pad", "low"): "edge_padding_low",
    ("reverse", "dims"): "dimensions",
    ("rng", "distribution"): "rng_distribution",
    ("rng_bit_generator", "algorithm"): "rng_algorithm",
    ("set_dimension_size", "dim"): "dimension",
    ("transpose", "dims"): "permutation",
}
"""(kind, name of a clause in the pretty form) -> name of the attribute, where the two names differ."""

_HINTS = frozenset(("algorithm", "precision", "result_accuracy"))
"""Clauses of the form `algorithm = <…>` on the precision of a device's kernels."""

_PAIRED = {"batching_dims": "batching_dimensions", "contracting_dims": "contracting_dimensions"}
_DIRECTIONS = ("EQ", "NE", "GE", "GT", "LE", "LT")
_SLICE = re.compile(r"\s*(\d{1,18})\s*:\s*(\d{1,18})\s*(?::\s*(\d{1,18}))?\s*$")


def pretty_form(scanner: Scanner, kind: str, value: Callable[[], Value]) -> PrettyForm:
    """Read an operation of a kind in its pretty form, from the word after its name up to its types; `value` reads a
    value.
    """
    form = PrettyForm([], {})
    if kind == "constant":
        _constant(scanner, form)
        return form
    while scanner.word not in (":", "", "}", "loc"):
        word = scanner.word
        if word.startswith("%"):
            form.operands.append(value())
        elif word == "(":
            scanner.advance()
            while not scanner.takes(")"):
                # A clause in the list, as in `chlo.top_k(%x, k = 2)`.
                if re.match(r"[A-Za-z_]", scanner.word):
                    _clause(scanner, kind, form)
                else:
                    form.operands.append(value())
                scanner.takes(",")
                if not scanner.word:
                    scanner.fail("a list of operands is not closed")
        elif word == "[":
            _bracketed(scanner, kind, form)
        elif word == "{":
            form.attributes |= dictionary_of(scanner)
        elif word == "<":
            scanner.advance()
            form.attributes |= dictionary_of(scanner)
            scanner.expect(">")
        elif word.startswith("@"):
            scanner.advance()
            name = Symbol(word[2:-1] if word.startswith('@"') else word[1:])
            form.attributes["call_target_name" if kind == "custom_call" else "callee"] = name
        elif word.startswith('"'):
            form.attributes["name"] = scanner.string()
        elif word == ",":
            scanner.advance()
        elif re.match(r"[A-Za-z_]", word):
            _clause(scanner, kind, form)
        else:
            scanner.fail(f"{word[:40]!r} is not expected in {kind}")
    return form


def _constant(scanner: Scanner, form: PrettyForm) -> None:
    """Read `constant dense<…> : type`, `constant {attributes} dense<…> : type`, `constant() <{value = dense<…> :
    type}>`.
    """
    if scanner.word == "{":
        form.attributes |= dictionary_of(scanner)
    if scanner.takes("("):
        scanner.expect(")")
    if scanner.takes("<"):
        form.attributes |= dictionary_of(scanner)
        scanner.expect(">")
        return
    form.attributes["value"] = dense_of(scanner) if scanner.word == "dense" else attribute_of(scanner)


def _bracketed(scanner: Scanner, kind: str, form: PrettyForm) -> None:
    """Read the content of square brackets: the bounds of a slice, or the index of an element of a tuple."""
    begin = scanner.start
    scanner.skip_balanced()
    text = scanner.text[begin + 1 : scanner.text.index("]", begin)]
    if kind == "get_tuple_element":
        form.attributes["index"] = decimal_of(text.strip()) or 0
        return
    starts, limits, strides = list[int](), list[int](), list[int]()
    for part in text.split(",") if text.strip() else ():
        match = _SLICE.match(part)
        if match is None:
            scanner.fail(f"{part[:40]!r} is not a slice")
        starts.append(int(match[1]))
        limits.append(int(match[2]))
        strides.append(int(match[3] or 1))
    form.attributes |= {"start_indices": starts, "limit_indices": limits, "strides": strides}


def _clause(scanner: Scanner, kind: str, form: PrettyForm) -> None:
    """Read a clause `name = value`, or a word alone, as an attribute of the form."""
    name = scanner.advance()
    if name == "attributes":
        form.attributes |= dictionary_of(scanner)
        return
    if not scanner.takes("="):
        _word(kind, name, form)
        return
    if name == "dim_numbers":
        form.attributes |= convolution_dimensions(scanner)
    elif name == "window":
        form.attributes |= _window(scanner)
    elif name in _PAIRED:
        first = attribute_of(scanner)
        scanner.expect("x")
        form.attributes[f"lhs_{_PAIRED[name]}"] = first
        form.attributes[f"rhs_{_PAIRED[name]}"] = attribute_of(scanner)
    elif scanner.word == "<" and name in _HINTS:
        scanner.skip_balanced()
    elif name == "format":
        match = re.fullmatch(r"e(\d{1,3})m(\d{1,3})", scanner.advance())
        if match is None:
            scanner.fail("a format of reduced precision has no bits")
        form.attributes |= {"exponent_bits": int(match[1]), "mantissa_bits": int(match[2])}
    else:
        # The types of the operation follow the number of a clause.
        is_number = scanner.word[:1].isdigit() or scanner.word[:1] == "-"
        form.attributes[_NAMES.get((kind, name), name)] = scanner.integer() if is_number else attribute_of(scanner)


def _word(kind: str, name: str, form: PrettyForm) -> None:
    """Add a word without a value, the direction or the type of a comparison, to the form."""
    if kind == "compare" and name in _DIRECTIONS:
        form.attributes["comparison_direction"] = name
    elif kind == "compare":
        form.attributes["compare_type"] = name


_WINDOW = {
    "lhs_dilate": "lhs_dilation",
    "pad": "padding",
    "reverse": "window_reversal",
    "rhs_dilate": "rhs_dilation",
    "stride": "window_strides",
}


def _window(scanner: Scanner) -> dict[str, Any]:
    """Read `{stride = [2, 2], pad = [[1, 1], [1, 1]], rhs_dilate = […], lhs_dilate = […], reverse = […]}`."""
    fields = dictionary_of(scanner)
    return {_WINDOW.get(name, name): np.array(value, np.int64) if name == "pad" else value for name, value in fields.items()}
