"""Reading items, their texts and their verdicts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from store.ordered import Wide, ordered_rows
from store.records import VerdictRecord

if TYPE_CHECKING:
    from store.study import Study


@dataclass(frozen=True, slots=True)
class StoredItem:
    """The current version of an item. `texts` maps field to text hash; `get_texts` reads them."""

    item_id: str
    content_hash: str
    task: str
    system: str
    natural_key: str
    cluster: str
    group: str
    slices: Mapping[str, str]
    weight: float
    payload: Mapping[str, Any]
    texts: Mapping[str, str]
    extra: Mapping[str, Any]
    position: int


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """A verdict with its judge: the name, the model and the version of the prompt ("" for unknown)."""

    judge: str
    record: VerdictRecord
    model: str = ""
    prompt_version: str = ""


ITEM_COLUMNS = (
    "item_id, content_hash, task, system, natural_key, cluster_key, group_key, slices, weight, payload, texts, extra,"
    " position"
)
VERDICT_COLUMNS = (
    "item_id, content_hash, judge_id, label, parts, failure, raw, route, repetition, score, confidence,"
    " confidence_source, rationale, position, model_returned, tokens_in, tokens_out, cost"
)

_CURRENT = """items i ANTI JOIN (SELECT item_id, version FROM items WHERE version > 0) newer
    ON newer.item_id = i.item_id AND newer.version > i.version"""
"""What `current_items` is, for who needs the row ids, which a view has not."""

ITEM_ROWS = Wide("i", "items", ITEM_COLUMNS, "hash(item_id, version)")
VERDICT_ROWS = Wide("v", "verdicts", VERDICT_COLUMNS, "hash(verdict_id, content_hash)")


def item_of_row(row: tuple[Any, ...]) -> StoredItem:
    """An item from `ITEM_COLUMNS`."""
    (
        item_id,
        content_hash,
        task,
        system,
        natural_key,
        cluster,
        group,
        slices,
        weight,
        payload,
        texts,
        extra,
        position,
    ) = row
    return StoredItem(
        item_id, content_hash, task, system, natural_key, cluster, group, _said(slices), weight,
        _said(payload), _said(texts), _said(extra), position,
    )  # fmt: skip


def verdict_of_row(row: tuple[Any, ...]) -> VerdictRecord:
    """A verdict from `VERDICT_COLUMNS`."""
    fields = dict(zip(_VERDICT_FIELDS, row, strict=True))
    fields["parts"] = _said(fields["parts"])
    return VerdictRecord(**fields)


def _said(text: str) -> dict[str, Any]:
    """What a JSON object says; most have no member, and of them there are very many."""
    return {} if text == "{}" else json.loads(text)


_VERDICT_FIELDS = VERDICT_COLUMNS.replace(" ", "").split(",")


def get_item(study: Study, item_id: str) -> StoredItem:
    """The current version of one item.

    Raises:
        KeyError: the study has no such item.
    """
    return get_items(study, [item_id])[item_id]


def get_items(study: Study, item_ids: Sequence[str]) -> dict[str, StoredItem]:
    """The current version of each item, in one pass over the table; ids that the study does not have are left out."""
    rows = study.rows(
        f"SELECT {ITEM_COLUMNS} FROM items WHERE item_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY version",
        [list(item_ids)],
    )
    return {row[0]: item_of_row(row) for row in rows}


def get_text(study: Study, text_hash: str) -> str:
    """A shared text.

    Raises:
        KeyError: the study has no such text.
    """
    rows = study.rows("SELECT body FROM texts WHERE text_hash = ?", [text_hash])
    if not rows:
        raise KeyError(text_hash)
    text: str = rows[0][0]
    return text


class LazyTexts(Mapping[str, str]):
    """An item's long texts by field, each read when it is asked for."""

    def __init__(self, study: Study, hashes: Mapping[str, str]) -> None:
        self._study = study
        self._hashes = hashes

    def __getitem__(self, field: str) -> str:
        return get_text(self._study, self._hashes[field])

    def __iter__(self) -> Iterator[str]:
        return iter(self._hashes)

    def __len__(self) -> int:
        return len(self._hashes)


def get_texts(study: Study, hashes: Collection[str]) -> dict[str, str]:
    """Shared texts by hash, in one pass over the table.

    Raises:
        KeyError: the study lacks one of them.
    """
    if not hashes:
        return {}
    rows = study.rows(
        "SELECT text_hash, body FROM texts WHERE text_hash IN (SELECT unnest(?::VARCHAR[]))", [list(hashes)]
    )
    texts = dict(rows)
    if missing := set(hashes) - texts.keys():
        raise KeyError(min(missing))
    return texts


def verdicts_of(study: Study, item: StoredItem) -> list[StoredVerdict]:
    """All verdicts on an item's current content, by judge name and repetition."""
    return verdicts_by_item(study, [item])[item.item_id]


def verdicts_by_item(study: Study, items: Collection[StoredItem]) -> dict[str, list[StoredVerdict]]:
    """For each item all verdicts on its current content, by judge name and repetition, in one pass over the table."""
    columns = ", ".join(f"v.{name.strip()}" for name in VERDICT_COLUMNS.split(","))
    rows = study.rows(
        f"""SELECT j.name, j.model, j.prompt_version, {columns} FROM verdicts v JOIN judges j USING (judge_id)
        WHERE v.item_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY j.name, j.judge_id, v.repetition""",
        [[item.item_id for item in items]],
    )
    contents = {item.item_id: item.content_hash for item in items}
    found: dict[str, list[StoredVerdict]] = {item_id: [] for item_id in contents}
    for name, model, prompt_version, *columns_of_verdict in rows:
        record = verdict_of_row(tuple(columns_of_verdict))
        if record.content_hash == contents[record.item_id]:
            found[record.item_id].append(StoredVerdict(name, record, model, prompt_version))
    return found


def count_items(study: Study) -> dict[str, int]:
    """Items by task."""
    return dict(study.rows("SELECT task, count(*) FROM current_items GROUP BY task ORDER BY task"))


def systems(study: Study) -> list[str]:
    """The systems that have items, in the order they came."""
    return [row[0] for row in study.rows("SELECT system FROM items GROUP BY system ORDER BY min(rowid)")]


def judges(study: Study, task: str = "") -> list[str]:
    """Names of the judges that gave verdicts (on a task), in the order they came."""
    where = "WHERE task = ?" if task else ""
    return [
        row[0]
        for row in study.rows(
            f"SELECT name FROM judges {where} GROUP BY name ORDER BY min(rowid)", [task] if task else []
        )
    ]


def stream_scored(
    study: Study, system: str, judge: str | Sequence[str]
) -> Iterator[tuple[StoredItem, VerdictRecord | None]]:
    """Items of a system with one judge's verdict (first repetition): in verdict order, then those without one.

    Args:
        judge: several are given only if no two of them judged the same task.

    Raises:
        OverreadError: rows were moved while they were read.
    """
    order = f"""SELECT i.rowid AS i, hash(i.item_id, i.version) AS i_key,
            coalesce(v.place, -1) AS v, coalesce(v.key, 0) AS v_key
        FROM {_CURRENT} LEFT JOIN (
            SELECT v.rowid AS place, hash(verdict_id, content_hash) AS key, item_id, content_hash, position
            FROM verdicts v JOIN judges j USING (judge_id)
            WHERE j.name IN (SELECT unnest(?::VARCHAR[])) AND v.repetition = 0) v
        ON v.item_id = i.item_id AND v.content_hash = i.content_hash
        WHERE i.system = ? ORDER BY v.position IS NULL, v.position, i.position, i.item_id"""
    names = [judge] if isinstance(judge, str) else list(judge)
    items = ITEM_ROWS._replace(where="system = ?", parameters=(system,))
    verdicts = VERDICT_ROWS._replace(
        where="repetition = 0 AND judge_id IN (FROM judges SELECT judge_id WHERE list_contains(?::VARCHAR[], name))",
        parameters=(names,),
    )
    for item, verdict in ordered_rows(study, order, [names, system], (items, verdicts)):
        if item is not None:
            yield item_of_row(item), verdict_of_row(verdict) if verdict else None


def stream_with_verdicts(study: Study) -> Iterator[tuple[StoredItem, list[StoredVerdict]]]:
    """All items in stable order (system, task, the benchmark's own order), each with all verdicts on it.

    Raises:
        OverreadError: rows were moved while they were read.
    """
    order = f"""SELECT i.rowid AS i, hash(i.item_id, i.version) AS i_key,
            coalesce(v.place, -1) AS v, coalesce(v.key, 0) AS v_key
        FROM {_CURRENT} LEFT JOIN (
            SELECT v.rowid AS place, hash(verdict_id, content_hash) AS key, item_id, content_hash, name, repetition
            FROM verdicts v JOIN judges j USING (judge_id)) v
        ON v.item_id = i.item_id AND v.content_hash = i.content_hash
        ORDER BY i.system, i.task, i.position, i.item_id, v.name, v.repetition, v.place"""
    names: dict[str, str] = {}
    current: StoredItem | None = None
    found: list[StoredVerdict] = []
    for item, verdict in ordered_rows(study, order, [], (ITEM_ROWS, VERDICT_ROWS)):
        if item is not None and (current is None or item[0] != current.item_id):
            if current is not None:
                yield current, found
            current, found = item_of_row(item), []
        if verdict is not None:
            record = verdict_of_row(verdict)
            if record.judge_id not in names:
                names = dict(study.rows("SELECT judge_id, name FROM judges"))
            found.append(StoredVerdict(names[record.judge_id], record))
    if current is not None:
        yield current, found


def facts_of(study: Study, system: str) -> dict[str, dict[str, Any]]:
    """The facts of a system: kind → key → payload, in their own order."""
    facts: dict[str, dict[str, Any]] = {}
    for kind, key, payload in study.rows(
        "SELECT kind, key, payload FROM facts WHERE system = ? ORDER BY kind, position", [system]
    ):
        facts.setdefault(kind, {})[key] = json.loads(payload)
    return facts
