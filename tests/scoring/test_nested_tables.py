"""Nested scores as tables: names down, numbers across, grids in one, and what is left out of another nesting."""

from __future__ import annotations

from annotate.report.nested import beyond, cell_text, nested_tables
from judges.benchmarks.benchmark import Undefined

NONE = Undefined("too_few", "two are needed")


def test_single_numbers_come_first_and_names_of_one_kind_are_rows() -> None:
    first, second = nested_tables({"n": 3, "models": {"a": {"mean": 0.5, "sd": 0.1}, "b": {"mean": NONE, "sd": 0.2}}})
    assert (first.title, dict(first.rows)) == ("", {"n": {"value": 3}})
    assert (second.title, second.columns) == ("models", ("mean", "sd"))
    assert second.rows["b"]["mean"] is NONE and second.reasons == ("two are needed",)


def test_a_mean_and_its_n_in_rows_and_columns_are_a_grid() -> None:
    (grid,) = nested_tables({"A1": {"GC": {"mean": 0.5, "n": 2}}, "A2": {"GC": {"mean": NONE, "n": 0}}})
    assert grid.is_grid and grid.columns == ("GC",)
    assert [cell_text(grid.rows[row]["GC"]) for row in ("A1", "A2")] == ["0.50 (2)", ""]


def test_what_stands_deeper_beside_a_row_is_a_table_of_its_own() -> None:
    found = list(nested_tables({"amp": {
        "x": {"ratio": 2.0, "difference": {"mean": 0.1}, "runs": {"1": {"d": 0.1}, "2": {"d": 0.2}}},
        "y": {"ratio": 3.0, "difference": {"mean": 0.2}, "runs": {"1": {"d": 0.3}, "2": {"d": 0.4}}},
    }}))  # fmt: skip
    assert [table.title for table in found] == ["amp", "amp / x / runs", "amp / y / runs"]
    assert found[0].columns == ("ratio", "difference mean")
    assert found[1].rows["2"] == {"d": 0.2}


def test_names_of_different_kinds_do_not_share_a_table() -> None:
    found = list(nested_tables({"rate": {"value": 0.5, "n": 2}, "lost": {"count": 3, "of": 9}}))
    assert [table.title for table in found] == ["rate", "lost"]


def test_every_number_of_a_nesting_is_in_some_table() -> None:
    scores = {"a": 1, "b": {"c": 2, "d": {"e": 3, "f": {"g": 4, "h": {"i": 5}}}}, "j": {"k": {"l": 6}}}
    cells = [value for table in nested_tables(scores) for row in table.rows.values() for value in row.values()]
    assert sorted(cells) == [1, 2, 3, 4, 5, 6]


def test_what_one_nesting_has_beyond_another() -> None:
    assert beyond({"a": 1, "b": {"c": 2, "d": 3}, "e": {"f": 4}}, {"a": 0, "b": {"c": 0}}) == {
        "b": {"d": 3}, "e": {"f": 4},
    }  # fmt: skip
