"""Products of matrices."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.signature import Signature, Values, recipe

EQUATIONS: dict[str, tuple[str, ...]] = {
    "ij,jk->ik": ("ij", "jk"),
    "bij,bjk->bik": ("bij", "bjk"),
    "ij->ji": ("ij",),
    "ii->i": ("ii",),
    "ij->": ("ij",),
    "i,j->ij": ("i", "j"),
    "ij,ij->i": ("ij", "ij"),
    "bhid,bhjd->bhij": ("bhid", "bhjd"),
    "ij,jk,kl->il": ("ij", "jk", "kl"),
    "bij,jk": ("bij", "jk"),
    "ij , jk": ("ij", "jk"),
    "...ij,...jk->...ik": ("aij", "ajk"),
    "...i->...": ("abi",),
    "bqc,bkc->bqk": ("bqc", "bkc"),
    "abc->cab": ("abc",),
}


def product_shapes(draw: Draw) -> tuple[list[int], list[int]]:
    """Shapes of the factors of a MatMul: vectors, matrices, batches that broadcast."""
    inner, rows, columns = draw.size(), draw.size(), draw.size()
    if draw.chance(0.15):
        return [inner], [*draw.shape(0, 2), inner, columns] if draw.chance(0.6) else [inner]
    if draw.chance(0.15):
        return [*draw.shape(0, 2), rows, inner], [inner]
    batch = draw.shape(0, 2)
    left, right = draw.broadcasts_to(batch), draw.broadcasts_to(batch)
    return [*left, rows, inner], [*right, inner, columns]


@recipe("MatMul")
def matmul(draw: Draw, signature: Signature) -> Values:
    left, right = product_shapes(draw)
    dtype = signature.dtype()
    return {"A": draw.array(dtype, left, special=0), "B": draw.array(dtype, right, special=0)}


@recipe("Gemm")
def gemm(draw: Draw, signature: Signature) -> Values:
    rows, inner, columns = draw.size(), draw.size(), draw.size()
    left, right = draw.integer(0, 1), draw.integer(0, 1)
    dtype = signature.dtype()
    factors = (0.0, 1.0, 1.0, 0.5, -1.0) if dtype.kind not in "iu" else (1.0, 2.0)
    bias = draw.broadcasts_to([rows, columns])
    return {
        "A": draw.array(dtype, [inner, rows] if left else [rows, inner], special=0),
        "B": draw.array(dtype, [columns, inner] if right else [inner, columns], special=0),
        "C": draw.array(dtype, bias if signature.version >= 7 else [rows, columns], special=0),
        "transA": left,
        "transB": right,
        "alpha": draw.one_of(factors),
        "beta": draw.one_of(factors),
    }


@recipe("MatMulInteger")
def integer_product(draw: Draw, signature: Signature) -> Values:
    left, right = product_shapes(draw)
    a, b = signature.dtype("A"), signature.dtype("B")
    values: Values = {"A": draw.array(a, left), "B": draw.array(b, right)}
    rows = [left[-2], 1] if len(left) == 2 and draw.chance(0.3) else []
    columns = right[-1:] if len(right) == 2 and draw.chance(0.3) else []
    return values | {"a_zero_point": draw.array(a, rows), "b_zero_point": draw.array(b, columns)}


@recipe("Einsum")
def einsum(draw: Draw, signature: Signature) -> Values:
    equation = draw.one_of(sorted(EQUATIONS))
    sizes = {letter: draw.size() for letter in "abcdehijklq"}
    dtype = signature.dtype("Inputs")
    members = [draw.array(dtype, [sizes[letter] for letter in term], special=0) for term in EQUATIONS[equation]]
    return {"Inputs": members, "equation": equation}


@recipe("Det")
def determinant(draw: Draw, signature: Signature) -> Values:
    size = draw.integer(1, 4)
    return {"X": draw.array(signature.dtype(), [*draw.shape(0, 2), size, size], special=0)}
