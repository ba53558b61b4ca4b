"""Splits: groups whole, strata in proportion, the stream estimate sealed, every opening counted and journaled."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from retune_studies import AT, TASK

from annotate.desk.actions import Choice
from annotate.desk.opening import sit_down
from judges.retune.splits import (
    OPENINGS,
    Group,
    assign,
    ensure_split,
    estimate_items,
    unseal,
)
from store.alterations import untrue_tables
from store.errors import NotEnoughError, UsageError
from store.journal import journal_path
from store.splits import openings_of, split_items
from store.study import Study


def groups_of(count: int, size: int = 4) -> dict[str, Group]:
    made = {}
    for number in range(count):
        group = Group([f"{number}-{place}" for place in range(size)])
        group.strata.update(["fail"] * (number % 2) + ["pass"] * (size - number % 2))
        made[f"g{number}"] = group
    return made


def test_every_part_gets_its_share_of_every_stratum() -> None:
    groups = groups_of(80)
    found = assign(groups, seed=3)
    for stratum, total in (("pass", 280), ("fail", 40)):
        share = Counter[str]()
        for name, part in found.items():
            share[part] += groups[name].strata[stratum]
        assert share["train"] == pytest.approx(total / 4, abs=4)
        assert share["val"] == pytest.approx(total / 4, abs=4)
        assert share["test"] == pytest.approx(total / 2, abs=4)


def test_the_seed_decides_and_nothing_else_does() -> None:
    groups = groups_of(40)
    again = dict(reversed(list(groups.items())))
    assert assign(groups, seed=1) == assign(again, seed=1)
    assert assign(groups, seed=1) != assign(groups, seed=2)


def test_groups_of_the_estimate_stream_are_sealed_and_official_parts_are_kept() -> None:
    groups = groups_of(40)
    for number in range(8):
        groups[f"g{number}"].sealed = True
    groups["g20"].official, groups["g21"].official = "train", "val"
    found = assign(groups, seed=1)
    assert {found[f"g{number}"] for number in range(8)} == {"test"}
    assert (found["g20"], found["g21"]) == ("train", "val")


def test_no_note_of_the_sample_is_in_two_parts_and_labels_are_not_read(table: Study, table_path: Path) -> None:
    _, items = ensure_split(table, TASK, seed=5, at=AT)
    clusters = dict(table.rows("SELECT item_id, cluster_key FROM current_items"))
    parts = {(clusters[item], place.part) for item, place in items.items()}
    assert len(parts) == len(set(clusters.values())) == 64
    sizes = Counter(place.part for place in items.values())
    assert sizes["train"] == pytest.approx(96, abs=12) and sizes["test"] == pytest.approx(192, abs=12)
    table.writer.do(lambda connection: connection.execute("UPDATE file_labels SET value = 'supported'"))
    table.writer.do(lambda connection: connection.execute("DELETE FROM splits; DELETE FROM split_items"))
    _, again = ensure_split(table, TASK, seed=5, at=AT)
    assert {item: place.part for item, place in again.items()} == {item: place.part for item, place in items.items()}


def test_a_split_is_made_once_and_comes_back_from_the_journal(table: Study, table_path: Path) -> None:
    split, items = ensure_split(table, TASK, seed=5, at=AT)
    assert ensure_split(table, TASK, seed=6, at=AT) == (split, items)
    with table.cursor() as cursor:
        assert untrue_tables(cursor) == []
    table.close()
    journal = journal_path(table_path).read_bytes()
    assert b'"type":"split"' in journal and b'"type":"split_items"' in journal
    with Study.open(table_path) as opened:
        opened.writer.do(lambda connection: connection.execute("DELETE FROM journal_records WHERE type LIKE 'split%'"))
        opened.writer.do(lambda connection: connection.execute("DELETE FROM splits; DELETE FROM split_items"))
    with Study.open(table_path) as rebuilt:
        assert split_items(rebuilt, split.split_id) == items


def test_items_of_the_estimate_stream_are_never_tuned_on(table: Study) -> None:
    desk = sit_down(table, "dr.li", mode="never", seed=2)
    for _ in range(12):
        desk.choose(Choice("", "supported"))
    labelled = {row[0] for row in table.rows("SELECT item_id FROM label_events WHERE kind = 'label'")}
    # 12 acts; one of the items has the same content under the other system and is labelled with it.
    assert len(labelled) == 13
    assert estimate_items(table, TASK) == labelled
    _, items = ensure_split(table, TASK, at=AT)
    assert {items[item].part for item in labelled} == {"test"}


def test_the_openings_of_the_test_are_counted_and_after_three_it_asks_for_labels(table: Study) -> None:
    split, items = ensure_split(table, TASK, at=AT)
    labelled = [item for item, place in items.items() if place.part == "test"]
    for number in range(OPENINGS):
        opened = unseal(table, split, labelled[:100], purpose="retune", subject=f"p{number}", at=AT)
        assert opened == labelled[:100]
    assert len(openings_of(table, TASK)) == OPENINGS
    with pytest.raises(NotEnoughError, match="opened 3 times") as refused:
        unseal(table, split, labelled[:110], purpose="retune", subject="p4", at=AT)
    assert "Label 20 more" in refused.value.hint
    fresh = unseal(table, split, labelled, purpose="retune", subject="p4", at=AT)
    assert fresh == labelled[100:]
    with table.cursor() as cursor:
        assert untrue_tables(cursor) == []


def test_a_split_that_is_there_is_not_made_anew_by_a_column(table: Study) -> None:
    ensure_split(table, TASK, at=AT)
    with pytest.raises(UsageError, match="was made before, by cluster, and stays"):
        ensure_split(table, TASK, column="group", at=AT)


def test_a_column_that_says_no_split_is_refused(table: Study) -> None:
    with pytest.raises(UsageError, match="is no split"):
        ensure_split(table, TASK, column="group", at=AT)
