"""Strings."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.recipes.elementwise import pair
from tests.fuzz.signature import Signature, Values, recipe


@recipe("StringConcat")
def concat(draw: Draw, signature: Signature) -> Values:
    left, right, _ = pair(draw, signature)
    return {"X": draw.array(signature.dtype(), left), "Y": draw.array(signature.dtype(), right)}


@recipe("StringSplit")
def split(draw: Draw, signature: Signature) -> Values:
    return {
        "X": draw.array(signature.dtype(), draw.shape(0, 2)),
        "delimiter": draw.one_of((None, "", ".", " ", "b")),
        "maxsplit": draw.one_of((None, 1, 2)),
    }


@recipe("RegexFullMatch")
def match(draw: Draw, signature: Signature) -> Values:
    return {"X": draw.array(signature.dtype(), draw.shape(0, 2)), "pattern": draw.one_of((r"[a-z]*", r"(\w+)@\w+\.\w+", r"a.*", r".*\d"))}


@recipe("StringNormalizer")
def normalize(draw: Draw, signature: Signature) -> Values:
    shape = draw.one_of(([draw.integer(1, 4)], [1, draw.integer(1, 4)]))
    return {
        "X": draw.array(signature.dtype("X"), shape),
        "case_change_action": draw.one_of(("LOWER", "UPPER", "NONE")),
        "stopwords": draw.one_of((None, ["monday", "abc"])),
        "locale": None,
    }


@recipe("TfIdfVectorizer")
def ngrams(draw: Draw, signature: Signature) -> Values:
    shape = [draw.integer(1, 6)] if draw.chance(0.5) else [draw.integer(1, 2), draw.integer(1, 6)]
    if signature.dtype().kind in "OUS":
        pool: Values = {"pool_strings": ["a", "B", "abc", "a", "B", "B", "a"], "pool_int64s": None}
        x = draw.array(signature.dtype(), shape)
    else:
        pool = {"pool_int64s": [1, 2, 3, 1, 2, 2, 3], "pool_strings": None}
        x = draw.between(signature.dtype(), shape, 0, 4)
    return pool | {
        "X": x,
        "ngram_counts": [0, 3],
        "ngram_indexes": draw.permutation(5),
        "mode": draw.one_of(("TF", "IDF", "TFIDF")),
        "weights": draw.one_of((None, [0.5, 1.0, 2.0, 1.5, 3.0])),
        "min_gram_length": draw.integer(1, 2),
        "max_gram_length": 2,
        "max_skip_count": draw.integer(0, 2),
    }
