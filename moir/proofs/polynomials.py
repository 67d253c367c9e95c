"""Real terms in a normal form: sums of products of powers of atoms.

An atom is an element of a tensor, a size, or a function of a normal form; terms that are equal by the laws below have
the same normal form.

    exp(a + b) = exp(a) · exp(b)                          log(exp(a)) = a
    sqrt(a)² = a  for a >= 0                              a · a⁻¹ = 1  for a != 0
    sum(n, λk. c · f[k] + g[k]) = c · sum(n, f) + sum(n, g)        linearity of sums
    sum(n, λk. sum(m, λj. f[k, j])) = sum(m, λj. sum(n, λk. f[k, j]))    permuting summation
    sum(n, λk. c) = n · c                                 tanh(-a) = -tanh(a), and so for other odd functions
    1 / √2 = √2 / 2

That divisors are not 0 and radicands not negative is required by the model before (`definedness`).
"""

# A key is any nest of tuples and frozensets, whose parts have no types.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import count, permutations
from math import isqrt
from typing import Any, ClassVar, TypeAlias

from moir.proofs.scalars import ODD, Scalar, UnprovableError
from moir.proofs.smt import z3
from moir.proofs.term_tables import TermTable

Monomial: TypeAlias = frozenset[tuple[Hashable, int]]
"""A product: pairs of an atom and its exponent, which may be negative."""

Polynomial: TypeAlias = frozenset[tuple[Monomial, Fraction]]
"""A sum: pairs of a product and its coefficient, which is not 0."""

ONE: Monomial = frozenset()
MOST_TERMS = 4000
"""The largest number of products of a normal form."""

LARGEST_ROOT = 10**6
"""The largest number whose root is simplified."""

MOST_ORDERS = 4
"""The largest number of axes of a sum that are permuted."""

_TOKENS = count()


def polynomial(terms: Iterable[tuple[Monomial, Fraction]]) -> Polynomial:
    """The sum of terms, with those of one product added up."""
    total: dict[Monomial, Fraction] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, Fraction(0)) + coefficient
    if len(total) > MOST_TERMS:
        raise UnprovableError("a normal form with too many terms")
    return frozenset((monomial, coefficient) for monomial, coefficient in total.items() if coefficient)


def number(value: Fraction | int) -> Polynomial:
    """The normal form of a number."""
    return polynomial([(ONE, Fraction(value))])


def atom(key: Hashable, exponent: int = 1) -> Polynomial:
    """The normal form of an atom to the power of `exponent`."""
    return frozenset([(frozenset([(key, exponent)]), Fraction(1))])


def plus(*parts: Polynomial) -> Polynomial:
    """The sum of normal forms."""
    return polynomial(term for part in parts for term in part)


def scaled(part: Polynomial, factor: Fraction | int) -> Polynomial:
    """A normal form times a number."""
    return polynomial((monomial, coefficient * factor) for monomial, coefficient in part)


def _merged(a: Monomial, b: Monomial) -> Monomial:
    exponents = dict(a)
    for key, exponent in b:
        exponents[key] = exponents.get(key, 0) + exponent
    return frozenset((key, exponent) for key, exponent in exponents.items() if exponent)


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product of normal forms; squares of roots become their radicands."""
    if len(a) * len(b) > MOST_TERMS:
        raise UnprovableError("a normal form with too many terms")
    product = polynomial((_merged(m, n), c * d) for m, c in a for n, d in b)
    return _without_squares(product)


def _without_squares(value: Polynomial) -> Polynomial:
    plain: list[tuple[Monomial, Fraction]] = []
    replaced: list[Polynomial] = []
    for monomial, coefficient in value:
        roots = [
            pair for pair in monomial if (radicand := argument_of(pair[0], "sqrt")) and (abs(pair[1]) > 1 or is_divisor(radicand, pair[1]))
        ]
        if not roots:
            plain.append((monomial, coefficient))
            continue
        key, exponent = roots[0]
        radicand: Any = key
        half = (abs(exponent) + is_divisor(radicand[1], exponent)) // 2
        left = exponent - 2 * half if exponent > 0 else exponent + 2 * half
        rest = frozenset(pair for pair in monomial if pair[0] != key) | (frozenset([(key, left)]) if left else frozenset())
        power = number(1)
        for _ in range(half):
            power = times(power, radicand[1] if exponent > 0 else inverse(radicand[1]))
        replaced.append(times(frozenset([(rest, coefficient)]), power))
    return plus(frozenset(plain), *replaced) if replaced else value


def is_divisor(radicand: Polynomial, exponent: int) -> bool:
    """Whether a root of a number has a negative odd exponent, as in 1 / √2, which is rewritten as √2 / 2."""
    return exponent < 0 and exponent % 2 == 1 and all(not monomial for monomial, _ in radicand)


def inverse(value: Polynomial) -> Polynomial:
    """The reciprocal of a normal form, which is assumed not to be 0."""
    if not value:
        raise UnprovableError("a division by 0")
    content, lead, rest = primitive(value)
    result = frozenset([(frozenset((key, -exponent) for key, exponent in content), 1 / lead)])
    return times(result, number(1) if rest == number(1) else atom(("sum of", rest), -1))


def primitive(value: Polynomial) -> tuple[Monomial, Fraction, Polynomial]:
    """A normal form as the product of a monomial, a number and a rest without common factors."""
    monomials = [dict(monomial) for monomial, _ in value]
    common = {key: min(each.get(key, 0) for each in monomials) for key in {key for each in monomials for key in each}}
    content = frozenset((key, exponent) for key, exponent in common.items() if exponent)
    back = frozenset((key, -exponent) for key, exponent in content)
    rest = [(_merged(monomial, back), coefficient) for monomial, coefficient in value]
    lead = min(rest, key=lambda pair: stable(pair[0]))[1]
    return content, lead, frozenset((monomial, coefficient / lead) for monomial, coefficient in rest)


def argument_of(key: Any, name: str) -> Polynomial | None:
    """The argument of an atom that is a function; None for other atoms."""
    parts: Any = key
    return parts[1] if isinstance(key, tuple) and parts[0] == name else None


def stable(key: Any) -> str:
    """A text of a key that is the same for equal keys, whatever the order of their parts."""
    if isinstance(key, frozenset):
        return "{" + ",".join(sorted(map(stable, key))) + "}"
    if isinstance(key, tuple):
        return "(" + ",".join(map(stable, key)) + ")"
    return str(key)


def contains(key: Any, token: str) -> bool:
    """Whether a token occurs in a key."""
    if isinstance(key, frozenset | tuple):
        return any(contains(part, token) for part in key)
    return isinstance(key, str) and token in key


def renamed(key: Any, names: Mapping[str, str]) -> Any:
    """A key whose tokens are replaced by those of a mapping; tokens that it lacks stay."""
    if isinstance(key, frozenset):
        return frozenset(renamed(part, names) for part in key)
    if isinstance(key, tuple):
        return tuple(renamed(part, names) for part in key)
    if isinstance(key, str) and "k~" in key:
        for old, new in names.items():
            key = key.replace(old, new)
    return key


def height(key: Any) -> int:
    """How deeply sums are nested in a key."""
    if isinstance(key, frozenset):
        return max(map(height, key), default=0)
    if isinstance(key, tuple):
        inner = max(map(height, key), default=0)
        return inner + (1 if key and key[0] == "bound" else 0)
    return 0


def bound_key(kind: str, sizes: tuple[Hashable, ...], tokens: tuple[str, ...], body: Hashable) -> Hashable:
    """The canonical key of a reduction `kind` of `body`, whatever the order and the names `tokens` of its axes."""
    level = height(body) + 1
    candidates: list[tuple[str, Hashable]] = []
    orders = permutations(range(len(sizes))) if len(sizes) <= MOST_ORDERS else [tuple(range(len(sizes)))]
    for order in orders:
        names = {tokens[old]: f"k~{level}.{new}~" for new, old in enumerate(order)}
        key = ("bound", kind, tuple(sizes[old] for old in order), renamed(body, names))
        candidates.append((stable(key), key))
    return min(candidates, key=lambda pair: pair[0])[1]


class Normalizer:
    """Brings terms of z3 into normal form. Those of all terms are kept, since proofs have parts in common."""

    MEMO: ClassVar[TermTable[Polynomial]] = TermTable()

    def normal(self, term: Scalar) -> Polynomial:
        """The normal form of a real term. Raises UnprovableError for one that is not understood."""
        kept = self.MEMO.get(term)
        return self.MEMO.put(self._normal(term), term) if kept is None else kept

    def _normal(self, term: Scalar) -> Polynomial:
        if z3.is_rational_value(term):
            return number(Fraction(term.numerator_as_long(), term.denominator_as_long()))
        name, parts = term.decl().name(), term.children()
        match term.decl().kind():
            case z3.Z3_OP_ADD:
                return plus(*map(self.normal, parts))
            case z3.Z3_OP_SUB:
                return plus(self.normal(parts[0]), *(scaled(self.normal(part), -1) for part in parts[1:]))
            case z3.Z3_OP_UMINUS:
                return scaled(self.normal(parts[0]), -1)
            case z3.Z3_OP_MUL:
                product = number(1)
                for part in parts:
                    product = times(product, self.normal(part))
                return product
            case z3.Z3_OP_DIV:
                return times(self.normal(parts[0]), inverse(self.normal(parts[1])))
            case z3.Z3_OP_ITE:
                condition = ("condition", self.condition(parts[0]))
                then, otherwise = map(self.normal, parts[1:])
                return then if then == otherwise else atom(("if", condition, then, otherwise))
            case z3.Z3_OP_TO_REAL:
                return self._of_size(parts[0])
            case _:
                return self._function(name, term, parts)

    def _function(self, name: str, term: Scalar, parts: list[Scalar]) -> Polynomial:
        if name == "exp":
            return self.exponential(self.normal(parts[0]))
        if name == "log":
            return logarithm(self.normal(parts[0]))
        if name == "sqrt":
            return root(self.normal(parts[0]))
        if name in ODD:
            value = self.normal(parts[0])
            sign = -1 if value and primitive(value)[1] < 0 else 1
            return scaled(atom((name, scaled(value, sign))), sign)
        if parts and z3.is_quantifier(parts[-1]):
            return self._reduction(name, parts)
        if all(z3.is_int(part) for part in parts):
            return atom((name, *map(self.index_key, parts)))
        return atom((name, *(self.normal(part) if z3.is_real(part) else self.index_key(part) for part in parts)))

    def _of_size(self, size: Scalar) -> Polynomial:
        """A size as a real number: products and sums of sizes are those of real numbers."""
        simple = z3.simplify(size, som=True)
        if z3.is_int_value(simple):
            return number(simple.as_long())
        parts = simple.children()
        match simple.decl().kind():
            case z3.Z3_OP_ADD:
                return plus(*map(self._of_size, parts))
            case z3.Z3_OP_MUL:
                product = number(1)
                for part in parts:
                    product = times(product, self._of_size(part))
                return product
            case _:
                return atom(("size", simple.sexpr()))

    def index_key(self, term: Scalar) -> Hashable:
        """The key of a term that is not a real number, such as an index: the text of its simplified form."""
        return z3.simplify(term, som=True).sexpr()

    def condition(self, term: Scalar) -> Hashable:
        """The key of a condition."""
        kinds = {z3.Z3_OP_LE: "<=", z3.Z3_OP_LT: "<", z3.Z3_OP_GE: ">=", z3.Z3_OP_GT: ">", z3.Z3_OP_EQ: "="}
        comparison = kinds.get(term.decl().kind())
        parts = term.children()
        if comparison and z3.is_real(parts[0]):
            difference = plus(self.normal(parts[0]), scaled(self.normal(parts[1]), -1))
            if comparison in ("<=", "<"):
                return (comparison, difference)
            return (comparison.replace(">", "<"), scaled(difference, -1)) if comparison != "=" else (comparison, difference)
        if term.decl().kind() in (z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_NOT) and parts:
            return (term.decl().name(), frozenset(map(self.condition, parts)))
        return self.index_key(term)

    def exponential(self, value: Polynomial) -> Polynomial:
        """exp of a normal form: a product of powers of the exponentials of its terms."""
        result = number(1)
        for monomial, coefficient in value:
            if len(monomial) == 1 and coefficient.denominator == 1:
                ((key, exponent),) = monomial
                if exponent == 1 and isinstance(key, tuple) and key[0] == "log":
                    inner: Any = key
                    factor = inner[1] if coefficient > 0 else inverse(inner[1])
                    for _ in range(abs(coefficient.numerator)):
                        result = times(result, factor)
                    continue
            base = frozenset([(monomial, Fraction(1, coefficient.denominator))])
            result = times(result, atom(("exp", base), coefficient.numerator))
        return result

    def _reduction(self, name: str, parts: list[Scalar]) -> Polynomial:
        *sizes, function = parts
        tokens = tuple(f"k~{next(_TOKENS)}~" for _ in sizes)
        body = z3.substitute_vars(function.body(), *(z3.Int(token) for token in reversed(tokens)))
        keys = tuple(map(self.index_key, sizes))
        if not z3.is_real(body):
            return atom(bound_key(name, keys, tokens, self.condition(body)))
        inner = self.normal(body)
        if not name.startswith("sum"):
            return atom(bound_key(name, keys, tokens, inner))
        counts = dict(zip(tokens, map(self._of_size, sizes), strict=True))
        return plus(*(self._summed(term, tokens, keys, counts) for term in inner))

    def _summed(
        self, term: tuple[Monomial, Fraction], tokens: tuple[str, ...], sizes: tuple[Hashable, ...], counts: dict[str, Polynomial]
    ) -> Polynomial:
        """The sum of one product over indices; factors without the indices are moved out of it.

        Args:
            term: the product and its coefficient.
            tokens: the names of the indices.
            sizes: the keys of the sizes of the axes.
            counts: the normal form of the size of each axis, by the name of its index.
        """
        monomial, coefficient = term
        inside = frozenset(pair for pair in monomial if any(contains(pair[0], token) for token in tokens))
        outside = frozenset([(monomial - inside, coefficient)])
        used = [number for number, token in enumerate(tokens) if any(contains(pair[0], token) for pair in inside)]
        for index, token in enumerate(tokens):
            if index not in used:
                outside = times(outside, counts[token])
        if not inside:
            return outside
        own_tokens, own_sizes = [tokens[each] for each in used], [sizes[each] for each in used]
        while len(inside) == 1:
            ((key, exponent),) = inside
            if exponent != 1 or not (isinstance(key, tuple) and key[:2] == ("bound", "sum")):
                break
            inner_key: Any = key
            _, _, inner_sizes, body = inner_key
            if any(contains(each, token) for each in inner_sizes for token in own_tokens):
                break
            level = height(body) + 1
            fresh = [f"k~{next(_TOKENS)}~" for _ in inner_sizes]
            opened = renamed(body, {f"k~{level}.{position}~": name for position, name in enumerate(fresh)})
            own_tokens, own_sizes = [*own_tokens, *fresh], [*own_sizes, *inner_sizes]
            inside = opened
        return times(outside, atom(bound_key("sum", tuple(own_sizes), tuple(own_tokens), inside)))


def is_variance(value: Polynomial) -> bool:
    """Whether a normal form is a product of sizes and of  sum(f²) - sum(f)² / n, which is not negative.

    This is the lemma of Cauchy and Schwarz: (Σ f)² <= n Σ f².
    """
    if len(value) != 2:
        return False
    (square, positive), (product, negative) = sorted(value, key=lambda term: -term[1])
    sums = [pair for pair in product if isinstance(pair[0], tuple) and pair[0][:2] == ("bound", "sum")]
    squares = [pair for pair in square if isinstance(pair[0], tuple) and pair[0][:2] == ("bound", "sum")]
    if positive <= 0 or positive != -negative or len(sums) != 1 or len(squares) != 1 or (sums[0][1], squares[0][1]) != (2, 1):
        return False
    first: Any = sums[0][0]
    second: Any = squares[0][0]
    count = number(1)
    for size in first[2]:
        count = times(count, atom(("size", size)))
    rest = frozenset([(square - {squares[0]}, Fraction(1))])
    is_scaled = times(frozenset([(product - {sums[0]}, Fraction(1))]), count) == rest
    is_positive = all(isinstance(key, tuple) and key[0] == "size" for key, _ in square - {squares[0]})
    return is_scaled and is_positive and first[2] == second[2] and second[3] == _merged(first[3], first[3])


def logarithm(value: Polynomial) -> Polynomial:
    """log of a normal form, which is assumed to be positive."""
    if len(value) == 1:
        ((monomial, coefficient),) = value
        if coefficient == 1 and all(isinstance(key, tuple) and key[0] == "exp" for key, _ in monomial):
            exponents: Any = monomial
            return plus(*(scaled(key[1], exponent) for key, exponent in exponents))
    return atom(("log", value))


def root(value: Polynomial) -> Polynomial:
    """The square root of a normal form, which is assumed not to be negative."""
    if len(value) == 1:
        ((monomial, coefficient),) = value
        if not monomial and 0 < coefficient.numerator * coefficient.denominator < LARGEST_ROOT:
            # √(p / q) is √(p q) / q, of which squares are taken out.
            product = coefficient.numerator * coefficient.denominator
            outside = next(each for each in range(isqrt(product), 0, -1) if product % each**2 == 0)
            rest = Fraction(product, outside**2)
            return scaled(number(1) if rest == 1 else atom(("sqrt", number(rest))), Fraction(outside, coefficient.denominator))
    if not value:
        return value
    return atom(("sqrt", value))
