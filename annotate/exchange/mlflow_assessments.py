"""Assessments for MLflow: its own dictionaries (`Assessment.from_dictionary`), as JSON lines.

A judge's verdict is feedback of an LLM judge. Where people decided otherwise or the same, their feedback follows and
overrides it: `overrides` names the judge's (MLflow shows it as superseded), and the judge's is marked not valid, never
deleted. `trace_id` is the benchmark's key until the traces' own ids are put in.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import Any

from annotate.exchange.calibrated import Decided, decided, thresholds_kept
from annotate.exchange.inspect_scores import sample_id
from store.records import digest
from store.study import Study, now


def mlflow_lines(
    study: Study, judge: str, system: str = "", task: str = "", *, selective: bool = False
) -> Iterator[str]:
    """Assessments of all items that somebody judged, each judge's before the person's that overrides it. What a judge
    may not decide alone is marked not valid, as what people overrode is."""
    at = now().isoformat()
    for one in decided(study, judge, system, task, thresholds_kept(study, judge, selective)):
        for assessment in assessments(one, at):
            yield json.dumps(assessment, ensure_ascii=False) + "\n"


def assessments(one: Decided, at: str) -> Iterator[dict[str, Any]]:
    """The assessments of one item."""
    judged = one.verdict is not None
    judge_id = f"a-{digest('assessment', one.item.item_id, one.judge)}"
    if judged:
        yield _of_judge(one, judge_id, at, valid=one.by not in ("people", "queue"))
    if one.people is not None:
        yield _of_people(one, judge_id if judged else "", at)


def _of_judge(one: Decided, assessment_id: str, at: str, *, valid: bool) -> dict[str, Any]:
    verdict = one.verdict
    assert verdict is not None
    if verdict.label is not None:
        feedback: dict[str, Any] = {"value": verdict.label}
    else:
        feedback = {
            "value": None,
            "error": {"error_code": verdict.failure.upper(), "error_message": "no verdict could be read"},
        }
    metadata = {
        "item_id": one.item.item_id, "system": one.item.system, "gate": one.gate.get("state", ""),
        "certificate": one.gate.get("certificate", ""), "decided_by": one.by,
        **({"gate_forced": one.gate["forced"]} if one.gate.get("forced") else {}),
        **({"confidence": repr(verdict.confidence), "confidence_source": verdict.confidence_source}
           if verdict.confidence is not None else {}),
    }  # fmt: skip
    return _assessment(
        one, assessment_id, ("LLM_JUDGE", one.judge), feedback, verdict.rationale, metadata, at, valid=valid
    )


def _of_people(one: Decided, overridden: str, at: str) -> dict[str, Any]:
    people = one.people
    assert people is not None
    names = ", ".join(people.annotators)
    metadata = {"item_id": one.item.item_id, "system": one.item.system, "mode": people.mode,
                **({"supersedes": overridden} if overridden else {})}  # fmt: skip
    found = _assessment(
        one, f"a-{digest('assessment', one.item.item_id, 'people', names, one.label)}", ("HUMAN", names or "people"),
        {"value": one.label}, people.state.note, metadata, people.at or at, valid=True,
    )  # fmt: skip
    return {**found, **({"overrides": overridden} if overridden else {})}


def _assessment(
    one: Decided,
    assessment_id: str,
    source: tuple[str, str],
    feedback: dict[str, Any],
    rationale: str,
    metadata: dict[str, str],
    at: str,
    *,
    valid: bool,
) -> dict[str, Any]:
    time = _timestamp(at)
    return {
        "assessment_id": assessment_id, "assessment_name": one.item.task, "trace_id": sample_id(one),
        "source": {"source_type": source[0], "source_id": source[1]}, "create_time": time, "last_update_time": time,
        "feedback": feedback, **({"rationale": rationale} if rationale else {}), "metadata": metadata, "valid": valid,
    }  # fmt: skip


def _timestamp(at: str) -> str:
    """A time as protobuf's JSON writes it: UTC, with Z."""
    moment = dt.datetime.fromisoformat(at.replace(" ", "T", 1).replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return moment.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
