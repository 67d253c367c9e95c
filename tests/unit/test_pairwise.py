"""The combinations of parameters for which tests run."""

from itertools import combinations, product

from tests.pairwise import covering


def pairs(rows: list[dict[str, int]]) -> set[tuple[tuple[str, int], ...]]:
    return {pair for row in rows for pair in combinations(sorted(row.items()), 2)}


def test_all_pairs_are_covered_by_fewer_rows() -> None:
    rows = [dict(zip("abcd", values, strict=True)) for values in product(range(3), range(4), range(2), range(2))]
    chosen = covering(rows)
    assert pairs([rows[index] for index in chosen]) == pairs(rows)
    assert 12 <= len(chosen) <= 16
    assert chosen == sorted(chosen)


def test_pairs_that_no_row_has_are_not_wanted() -> None:
    rows = [{"a": 0, "b": 0, "c": 0}, {"a": 1, "b": 1, "c": 1}, {"a": 0, "b": 0, "c": 1}]
    assert covering(rows) == [0, 1, 2]


def test_all_combinations_of_one_and_two_parameters_stay() -> None:
    assert covering([{"a": value} for value in range(5)]) == [0, 1, 2, 3, 4]
    assert covering([{"a": a, "b": b} for a, b in product(range(3), range(4))]) == list(range(12))
    assert covering([{}]) == [0]
