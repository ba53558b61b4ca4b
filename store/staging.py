"""Laying out a reader's records on disk, for its owner only, so that an import takes no memory for them."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from store.files import private_umask
from store.opening import staging_prefix
from store.records import (
    FactRecord,
    ItemRecord,
    JudgeRecord,
    LabelRecord,
    Problem,
    Record,
    SystemRecord,
    TextRecord,
    VerdictRecord,
    canonical_json,
    has_broken_pair,
    mend_pairs,
)

_TEXT_MEMORY = 200_000
"""How many text hashes an import remembers so as not to stage a text twice; beyond, the merge removes doubles."""

STAGES: dict[str, dict[str, str]] = {
    "systems": dict.fromkeys(("system", "name", "run", "condition", "regime", "metadata"), "VARCHAR"),
    "texts": {"text_hash": "VARCHAR", "body": "VARCHAR"},
    "judges": dict.fromkeys(("judge_id", "task", "name", "model", "prompt_version", "parameters"), "VARCHAR"),
    "items": {
        **dict.fromkeys(
            ("item_id", "content_hash", "meta_hash", "task", "system", "natural_key", "pair_key", "cluster_key",
             "group_key", "slices", "payload", "texts", "extra"), "VARCHAR"),
        "weight": "DOUBLE", "position": "BIGINT",
    },
    "verdicts": {
        **dict.fromkeys(
            ("verdict_id", "verdict_hash", "item_id", "content_hash", "judge_id", "label", "parts", "failure", "raw",
             "route", "confidence_source", "rationale", "model_returned"), "VARCHAR"),
        "repetition": "INTEGER", "score": "DOUBLE", "confidence": "DOUBLE", "position": "BIGINT",
        "tokens_in": "BIGINT", "tokens_out": "BIGINT", "cost": "DOUBLE",
    },
    "facts": {"system": "VARCHAR", "kind": "VARCHAR", "key": "VARCHAR", "position": "BIGINT", "payload": "VARCHAR"},
    "labels": {
        **dict.fromkeys(
            ("item_id", "content_hash", "annotator", "value", "parts", "tags", "note", "harm", "cannot_judge",
             "right_answer", "evidence", "mode", "happened_at"), "VARCHAR"),
        **dict.fromkeys(("unsure", "reference_wrong", "skipped", "flagged", "adjudicated"), "BOOLEAN"),
    },
}  # fmt: skip


@contextlib.contextmanager
def staging_folder(path: Path) -> Iterator[Path]:
    """A folder for its owner only; should the program be killed, the next opening of the study takes it away."""
    folder = Path(tempfile.mkdtemp(prefix=staging_prefix(path), dir=path.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stage(records: Iterable[Record], folder: Path, problems: list[Problem]) -> dict[str, Path]:
    """Write records as NDJSON, one file a kind, and collect problems; returns the files that hold something."""
    paths = {kind: folder / f"{kind}.ndjson" for kind in STAGES}
    broken = 0
    with private_umask(), contextlib.ExitStack() as stack:
        outs = {kind: stack.enter_context(path.open("w", encoding="utf-8")) for kind, path in paths.items()}
        for record in _without_doubles(records):
            if isinstance(record, Problem):
                problems.append(record)
                continue
            kind, row = _row_of(record)
            line = json.dumps(row, ensure_ascii=False)
            if has_broken_pair(line):
                line, broken = mend_pairs(line), broken + 1
            outs[kind].write(f"{line}\n")
    if broken:
        problems.append(_broken_pairs(broken))
    return {kind: path for kind, path in paths.items() if path.stat().st_size}


def _without_doubles(records: Iterable[Record]) -> Iterator[Record]:
    """The records, without most of the texts that came before."""
    seen: set[str] = set()
    for record in records:
        if isinstance(record, TextRecord):
            if record.text_hash in seen:
                continue
            if len(seen) < _TEXT_MEMORY:
                seen.add(record.text_hash)
        yield record


def _broken_pairs(count: int) -> Problem:
    what = f"half a surrogate pair (a broken emoji) in {count} records was replaced by U+FFFD"
    return Problem("", 0, 0, what, fatal=False)


def _row_of(record: Record) -> tuple[str, Mapping[str, Any]]:
    match record:
        case TextRecord():
            return "texts", {"text_hash": record.text_hash, "body": record.text}
        case ItemRecord():
            return "items", _item_row(record)
        case VerdictRecord():
            return "verdicts", _verdict_row(record)
        case FactRecord():
            return "facts", {
                "system": record.system,
                "kind": record.kind,
                "key": record.key,
                "position": record.position,
                "payload": canonical_json(record.payload),
            }
        case LabelRecord():
            return "labels", _label_row(record)
        case JudgeRecord():
            return "judges", {
                "judge_id": record.judge_id,
                "task": record.task,
                "name": record.name,
                "model": record.model,
                "prompt_version": record.prompt_version,
                "parameters": canonical_json(dict(record.parameters)),
            }
        case SystemRecord():
            return "systems", {
                "system": record.system,
                "name": record.name,
                "run": record.run,
                "condition": record.condition,
                "regime": record.regime,
                "metadata": canonical_json(dict(record.metadata)),
            }
        case _:
            raise TypeError(f"not a record: {type(record).__name__}")  # fmt: skip


def _item_row(item: ItemRecord) -> dict[str, Any]:
    return {
        "item_id": item.item_id, "content_hash": item.content_hash, "meta_hash": item.meta_hash, "task": item.task,
        "system": item.system, "natural_key": item.natural_key, "pair_key": item.pair_key,
        "cluster_key": item.cluster, "group_key": item.group, "slices": canonical_json(dict(item.slices)),
        "payload": canonical_json(dict(item.payload)), "texts": canonical_json(dict(item.texts)),
        "extra": canonical_json(dict(item.extra)), "weight": item.weight, "position": item.position,
    }  # fmt: skip


def _verdict_row(verdict: VerdictRecord) -> dict[str, Any]:
    return {
        "verdict_id": verdict.verdict_id, "verdict_hash": verdict.verdict_hash, "item_id": verdict.item_id,
        "content_hash": verdict.content_hash, "judge_id": verdict.judge_id, "label": verdict.label,
        "parts": canonical_json(dict(verdict.parts)), "failure": verdict.failure, "raw": verdict.raw,
        "route": verdict.route, "confidence_source": verdict.confidence_source, "rationale": verdict.rationale,
        "model_returned": verdict.model_returned, "repetition": verdict.repetition, "score": verdict.score,
        "confidence": verdict.confidence, "position": verdict.position, "tokens_in": verdict.tokens_in,
        "tokens_out": verdict.tokens_out, "cost": verdict.cost,
    }  # fmt: skip


def _label_row(label: LabelRecord) -> dict[str, Any]:
    state = label.state.as_json()
    texts = {name: canonical_json(state[name]) for name in ("parts", "tags", "evidence")}
    return {
        **state, **texts, "item_id": label.item_id, "content_hash": label.content_hash, "annotator": label.annotator,
        "mode": label.mode, "adjudicated": label.adjudicated, "happened_at": label.at,
    }  # fmt: skip


_LITTLE = 16 * 2**20
"""Bytes of staged files."""
LOADED = '"staged.records"'
"""The database that staged files are loaded into, as it is called in queries: a study, which DuckDB calls by its file's
name up to a dot, is never called so."""


def load_stages(connection: Any, folder: Path, staged: Mapping[str, Path]) -> None:
    """Read staged files into a database of their own, attached as `LOADED`: every kind, with the types of `STAGES`.

    Not into temporary tables: those are in memory, and of rows that are not committed DuckDB reads no range by itself.
    Little is loaded into memory all the same, for a file takes longer to make. Outside a transaction; whatever an
    earlier try loaded is taken away.
    """
    unload_stages(connection)
    if sum(path.stat().st_size for path in staged.values()) <= _LITTLE:
        connection.execute(f"ATTACH ':memory:' AS {LOADED}")
    else:
        path = folder / "records.duckdb"
        for place in (path, path.with_name(f"{path.name}.wal")):
            place.unlink(missing_ok=True)
        connection.execute(f"ATTACH {_quoted(path)} AS {LOADED} (BLOCK_SIZE 262144)")
    for kind, columns in STAGES.items():
        listed = ", ".join(f"{name} {type_}" for name, type_ in columns.items())
        connection.execute(f"CREATE TABLE {LOADED}.{kind} ({listed})")
        if (source := staged.get(kind)) is None:
            continue
        shape = ", ".join(f"'{name}': '{type_}'" for name, type_ in columns.items())
        names = ", ".join(columns)
        longest = max(_longest_line(source) * 2, 16 * 2**20)
        connection.execute(
            f"INSERT INTO {LOADED}.{kind} ({names}) SELECT {names} FROM read_json(?, format = 'newline_delimited',"
            f" columns = {{{shape}}}, maximum_object_size = {longest})",
            [str(source)],
        )


def unload_stages(connection: Any) -> None:
    """Let go of the database that `load_stages` made, if there is one.

    DuckDB folds its log into it first. Should that fail, as on a full disk, it lets go of it all the same; nothing is
    lost with it.
    """
    from store.engine import duckdb

    with contextlib.suppress(duckdb.IOException, duckdb.InterruptException):
        connection.execute(f"DETACH DATABASE IF EXISTS {LOADED}")


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _longest_line(path: Path) -> int:
    with path.open("rb") as lines:
        return max(map(len, lines), default=0)
