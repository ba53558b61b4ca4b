"""The records that cross the store's border: plain, frozen, without behaviour beyond their own hashes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def canonical_json(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, UTF-8 characters kept. Hashes are taken over it."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def has_broken_pair(text: str) -> bool:
    """Whether the text holds a surrogate: half an emoji, which UTF-8 cannot say."""
    return _SURROGATE.search(text) is not None


def mend_pairs(text: str) -> str:
    """The text with half surrogate pairs replaced by U+FFFD and whole ones joined."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def digest(*parts: Any) -> str:
    """32 hex digits of SHA-256 over the canonical JSON of the parts: the id of anything named by its content."""
    return hashlib.sha256(canonical_json(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def text_hash(text: str) -> str:
    """The id of a shared text."""
    return digest("text", text)


def item_id(benchmark: str, task: str, system: str, natural_key: Any) -> str:
    """The deterministic id of an item; independent of file order, seed and limits."""
    return digest("item", benchmark, task, system, natural_key)


@dataclass(frozen=True, slots=True)
class TextRecord:
    """A long text stored once, referred to by hash."""

    text_hash: str
    text: str

    @classmethod
    def of(cls, text: str) -> TextRecord:
        return cls(text_hash(text), text)


@dataclass(frozen=True, slots=True)
class SystemRecord:
    """What the benchmark measures. `system` is its id in items and JSON; the rest describes it."""

    system: str
    name: str
    run: str = ""
    condition: str = ""
    regime: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


MAY_HOLD_VERDICTS: Final = ("row", "rule")
"""What of an item's `extra` came with a verdict: the row of a file that holds both, what a string rule gave. A file
with other verdicts brings new ones; the item stays the same."""


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """One thing to judge.

    Attributes:
        item_id: see `item_id()`.
        task: the task it belongs to.
        system: id of the system that produced it.
        natural_key: JSON text of the benchmark's own key (without system).
        cluster: items of one cluster stand or fall together (HaluMem: the user).
        group: items of one group share a long text and are read together (HaluMem: user/session); "" for none.
        payload: small fields by name; what judge and reader see. Never verdicts, timings or scores.
        texts: long fields by name, each the hash of a `TextRecord`.
        slices: strata to report by; not content.
        weight: the benchmark's weight of the item.
        extra: fields of the benchmark's own record that nobody is shown (durations, provenance): kept for its writer.
            Those named in `MAY_HOLD_VERDICTS` make no item another.
        position: order in the benchmark's own files, 0-based.
    """

    item_id: str
    task: str
    system: str
    natural_key: str
    cluster: str
    group: str
    payload: Mapping[str, Any]
    texts: Mapping[str, str] = field(default_factory=dict)
    slices: Mapping[str, str] = field(default_factory=dict)
    weight: float = 1.0
    extra: Mapping[str, Any] = field(default_factory=dict)
    position: int = 0

    @property
    def content_hash(self) -> str:
        """Hash of what judge and reader see; labels attach to it."""
        return digest("content", self.task, self.payload, self.texts)

    @property
    def meta_hash(self) -> str:
        """Hash of what describes the item without being seen: a change makes a new version, not a stale label."""
        return digest("meta", self.cluster, self.group, self.slices, self.weight, self.extra)

    @property
    def pair_key(self) -> str:
        """The natural key without the system: the same for two systems' items of one question."""
        return digest("pair", self.task, self.natural_key)


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """A judge of one task: model, prompt version and parameters, known by the hash of all three and its name."""

    task: str
    name: str
    model: str = ""
    prompt_version: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def judge_id(self) -> str:
        return digest("judge", self.task, self.name, self.model, self.prompt_version, self.parameters)


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One answer of one judge on one item in one repetition: a label, or the failure.

    Attributes:
        label: a label of the task's set, or None when `failure` says why there is none.
        parts: the labels of the task's parts ({} for none).
        failure: "" or the kind: `missing` (null), `malformed`, `off_menu`, `refusal`, `truncated`, `timeout`,
            `filtered`; of a judge run here also `server_error`, `too_long`, `rejected`; of a panel `divided`.
        raw: the record's own verdict fields as JSON text, exactly as read; as-coded scores use it.
        route: how the verdict came about: `judged`, or the name of the shortcut that gave it without a call.
        position: order in the judge's own file, 0-based; as-coded sums run in it.
    """

    item_id: str
    content_hash: str
    judge_id: str
    label: str | None
    parts: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""
    raw: str = ""
    route: str = "judged"
    repetition: int = 0
    score: float | None = None
    confidence: float | None = None
    confidence_source: str = ""
    rationale: str = ""
    position: int = 0
    model_returned: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None

    @property
    def verdict_id(self) -> str:
        """Names the slot (item, judge, repetition); a second, different verdict in it is refused."""
        return digest("verdict", self.item_id, self.judge_id, self.repetition)

    @property
    def verdict_hash(self) -> str:
        """Hash of the answer itself, to tell the same verdict from a changed one."""
        return digest(
            "answer",
            self.label,
            self.parts,
            self.failure,
            self.raw,
            self.route,
            self.score,
            self.confidence,
            self.rationale,
        )


@dataclass(frozen=True, slots=True)
class FactRecord:
    """What scoring needs and no item holds (session timings, the file's own scores, duplicate users …).

    `(system, kind, key)` names it; importing it again replaces it.
    """

    system: str
    kind: str
    key: str
    payload: Any
    position: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """A bad place in an input.

    Attributes:
        file: path as the user gave it.
        line: 1-based; 0 when no line applies. column: 1-based; 0 when unknown.
        what: what is wrong, without item text. remedy: what to do.
        fatal: False for a warning: the record was kept, something was repaired or guessed.
    """

    file: str
    line: int
    column: int
    what: str
    remedy: str = ""
    fatal: bool = True


SHOWN_ORDER = ".order"
"""What follows a part's id in the part that records in which order the entries of a ranking were shown."""


@dataclass(frozen=True, slots=True)
class LabelState:
    """A person's whole label of an item. The default is: nothing said yet.

    Attributes:
        value: the label agreement is computed on, or None.
        parts: required and optional parts by id. Without a value: a half-given label as far as it goes, the value's own
            part under "".
        cannot_judge: "" or the reason id; stands instead of a value.
        reference_wrong: stands beside a value; `right_answer` is what the reference should say.
        evidence: 0-based indexes of dialogue turns marked as evidence.
        harm: "" or none / minor / serious / life_threatening: harm if the response were believed.
        skipped: set aside for the end of the queue. flagged: marked for the lead.
    """

    value: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    note: str = ""
    unsure: bool = False
    harm: str = ""
    cannot_judge: str = ""
    reference_wrong: bool = False
    right_answer: str = ""
    evidence: tuple[int, ...] = ()
    skipped: bool = False
    flagged: bool = False

    @property
    def decided(self) -> bool:
        """True when the item needs nothing more from this person."""
        return self.value is not None or self.cannot_judge != ""

    def as_json(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "parts": dict(self.parts),
            "tags": list(self.tags),
            "note": self.note,
            "unsure": self.unsure,
            "harm": self.harm,
            "cannot_judge": self.cannot_judge,
            "reference_wrong": self.reference_wrong,
            "right_answer": self.right_answer,
            "evidence": list(self.evidence),
            "skipped": self.skipped,
            "flagged": self.flagged,
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> LabelState:
        return cls(
            value=state["value"],
            parts=dict(state["parts"]),
            tags=tuple(state["tags"]),
            note=state["note"],
            unsure=state["unsure"],
            harm=state["harm"],
            cannot_judge=state["cannot_judge"],
            reference_wrong=state["reference_wrong"],
            right_answer=state["right_answer"],
            evidence=tuple(state["evidence"]),
            skipped=state["skipped"],
            flagged=state["flagged"],
        )


@dataclass(frozen=True, slots=True)
class LabelRecord:
    """A person's label that came with a benchmark's or table's file.

    Attributes:
        mode: what the file says of how it was given; "" when it says nothing (then taken as blind, and said so).
        adjudicated: the decision of an adjudicator over several people.
        at: ISO 8601 with offset, or "".
    """

    item_id: str
    content_hash: str
    annotator: str
    state: LabelState
    mode: str = ""
    adjudicated: bool = False
    at: str = ""


Record = TextRecord | SystemRecord | ItemRecord | JudgeRecord | VerdictRecord | FactRecord | LabelRecord | Problem
"""What a benchmark's reader yields; systems, texts and judges before what refers to them."""
