"""Build the MedMemoryBench sample: query files, answers, results, truth.csv and README.md.

    python sample_data/medmemorybench/source/build.py [--into FOLDER]

The TOML files beside this script hold everything that a person wrote: facts, questions, answers, the judge's words and,
where the scorer is wrong, the truth and the kind of error. Everything else follows from them; building twice gives the
same bytes.

An answer is a table under `he` or `hm` (heron_notes, Efficient or Mixed), `se` or `sm` (saltmarsh_rag); a Mixed one
that is not there is the Efficient one. Its keys: o output, j verdict of the judge (the rules of eem and mq give their
own), t truth where it is another, e kind of the error, f why the answer is wrong, h harm, a it abstains, w the judge's
reason, g memories retrieved, x a failure. Of a deduction: n the judge's flags by node (mentioned, specific, causal),
cc, ncr and p (patient's own) and q (quality) of the judge; tn the true grid (stated, causal, patient), tc, tk.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import tomllib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from official import answer_summary, composite, letters, matched, result_summary
from readme_tables import readme_tables
from verdicts import MODEL, REGIMES, SYSTEMS, TAGS, TYPES, Json, Run, Verdict

SOURCE = Path(__file__).resolve().parent
SAMPLE = SOURCE.parent
FOLDERS = {"zh": "MedMemoryBench", "en": "MedMemoryBench_EN"}
ANCHOR_LEAST, SHARE_LEAST = 0.7, 0.75

TRUTH_COLUMNS = (
    "system", "regime", "language", "persona", "query_id", "task", "judge", "truth", "conclusion", "nodes", "cc",
    "abstained", "evidence", "harm", "tag", "error",
)  # fmt: skip


def seconds(name: str, low: float, high: float) -> float:
    """A duration that looks measured and is the same every time."""
    return round(low + (high - low) * zlib.crc32(name.encode("utf-8")) / 0xFFFFFFFF, 4)


# The benchmark's queries


def query_ids(person: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Queries in the order of asking: by checkpoint, then as written."""
    counts: dict[str, int] = {}
    for query in sorted(person["queries"], key=lambda query: int(query["session"])):
        prefix = f"session_{query['session']}_{query['type']}"
        counts[prefix] = counts.get(prefix, 0) + 1
        yield f"{prefix}_{counts[prefix]}", query


def query_file(person: Mapping[str, Any]) -> Json:
    queries = [_query(query_id, query, person["points"]) for query_id, query in query_ids(person)]
    kinds = [query["query_type"] for query in queries]
    return {
        "metadata": {
            "export_time": "2026-05-01T09:00:00",
            "total_queries": len(queries),
            "queries_by_type": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
            "source_file": "generated_dialogues.json",
            "generation_mode": "written by hand",
        },
        "queries": queries,
    }


def _query(query_id: str, query: Mapping[str, Any], points: Mapping[str, Any]) -> Json:
    return {
        "query_id": query_id,
        "session_id": query["session"],
        "query_type": TYPES[query["type"]],
        "question": query["question"],
        "answers": _answers(query),
        "source_key_points": [_key_point(points[name]) for name in query["points"]],
        "metadata": _metadata(query),
    }


def _answers(query: Mapping[str, Any]) -> list[Json]:
    if "options" in query:
        return [{"content": text, "is_correct": right, "explanation": why} for text, right, why in query["options"]]
    return [{"content": text, "is_correct": True, "explanation": query["explanation"]} for text in query["answers"]]


def _key_point(point: Mapping[str, Any]) -> Json:
    names = ("category", "name", "content")
    return {name: point[name] for name in names} | {
        "trap_score": point["trap"],
        "time": point["time"],
        "session_id": point["session"],
    }


def _metadata(query: Mapping[str, Any]) -> Json:
    metadata = dict(query["metadata"])
    if "trap" in query:
        metadata["trap_design"] = dict(query["trap"])
    if "inference_type" in query:
        metadata |= {"inference_type": query["inference_type"], "common_wrong_answer": dict(query["wrong"])}
    if "nodes" in query:
        metadata |= {
            "hop_count": len(query["nodes"]),
            "reasoning_pattern": query["pattern"],
            "reasoning_chain": [
                {"node_id": number, "session_id": session, "content": content, "role": role, "source_info": source}
                for number, (role, session, content, source) in enumerate(query["nodes"], start=1)
            ],
            "required_memory_nodes": list(query["required"]),
        }
    return metadata


# The answers


def verdicts_of(person: Mapping[str, Any]) -> Iterator[Verdict]:
    for system in SYSTEMS:
        for regime in REGIMES:
            for query_id, query in query_ids(person):
                given = query.get(system + regime) or query[f"{system}e"]
                yield _verdict(person, query_id, query, given, system, regime)


def _verdict(
    person: Mapping[str, Any],
    query_id: str,
    query: Mapping[str, Any],
    given: Mapping[str, Any],
    system: str,
    regime: str,
) -> Verdict:
    name = f"{person['persona']} {query_id} {system}{regime}"
    memories = list(_memories(person, given, system, regime, name))
    record = {
        "query_id": query_id,
        "query_type": TYPES[query["type"]],
        "question": query["question"],
        "expected_answer": _expected(query),
        "model_output": _output(given),
        **_scored(query, given),
        "retrieved_memories": memories,
        "retrieved_count": len(memories),
        "query_time": seconds(f"time {name}", 0.6, 3.9),
        "evaluation_details": _details(query, given),
    }
    judge = record["is_correct"] if isinstance(record["is_correct"], bool) and not _failed(given) else None
    truth = _truth(query, given, judge)
    verdict = Verdict(
        SYSTEMS[system], REGIMES[regime], person["language"], person["persona"], person["name"], query_id,
        query["type"], query["question"], query.get("trap", {}).get("trap_type", ""), judge, truth, given.get("e", ""),
        given.get("f", ""), given.get("h", ""), _parts(query, given, regime), record,
    )  # fmt: skip
    return _checked(verdict, name)


def _checked(verdict: Verdict, name: str) -> Verdict:
    wrong = verdict.judge is not None and verdict.judge != verdict.truth
    assert wrong == bool(verdict.error), f"{name}: an error is named exactly where the scorer is wrong"
    assert verdict.truth == (not verdict.fault), f"{name}: a fault is named exactly where the answer is wrong"
    return verdict


def _failed(given: Mapping[str, Any]) -> bool:
    return given.get("x") in ("judge_failed", "no_response", "api_error")


def _memories(
    person: Mapping[str, Any], given: Mapping[str, Any], system: str, regime: str, name: str
) -> Iterator[Json]:
    """Noise is only there in Mixed runs; only heron_notes says where a memory comes from."""
    for place, reference in enumerate(given.get("g", ())):
        point, noise = person["points"].get(reference), person["noise"].get(reference)
        if noise and regime == "e":
            continue
        text = (point or noise)["content"]
        if system == "s":
            yield {"memory": text, "type": "passage"}
            continue
        source = (
            {"session_id": point["session"]} if point else {f"noise_{'family_' * (noise['kind'] == 'family')}id": 1}
        )
        yield {"memory": text, "type": "note", **source, "score": seconds(f"score {name} {place}", 0.3, 0.98)}


def _expected(query: Mapping[str, Any]) -> str:
    if "options" in query:
        return ", ".join(text[0] for text, right, _ in query["options"] if right)
    return ", ".join(query["answers"]) if query["type"] == "eem" else str(query["answers"][0])


def _output(given: Mapping[str, Any]) -> str:
    return "[API_ERROR] RateLimitError: retries exhausted" if given.get("x") == "api_error" else str(given["o"])


def _scored(query: Mapping[str, Any], given: Mapping[str, Any]) -> Json:
    if _failed(given):
        return {"score": 0.0, "is_correct": False}
    if given.get("x") == "string_false":
        return {"score": 1.0, "is_correct": "false"}
    correct = _rule(query, given) if query["type"] in ("eem", "mq") else bool(given["j"])
    score = composite(_details(query, given)) if query["type"] == "mcd" else 1.0 if correct else 0.0
    return {"score": score, "is_correct": correct}


def _rule(query: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    if query["type"] == "mq":
        return letters(given["o"]) == [text[0] for text, right, _ in query["options"] if right]
    return len(matched(query["answers"], given["o"])) == len(query["answers"])


def _details(query: Mapping[str, Any], given: Mapping[str, Any]) -> Json:
    if given.get("x") == "api_error":
        return {"api_error": True, "error_type": "RateLimitError", "error_message": "retries exhausted"}
    if query["type"] == "eem":
        found = matched(query["answers"], given["o"])
        return {"matched_answers": found, "total_expected": len(query["answers"]), "total_matched": len(found),
                "metric": "string_contain"}  # fmt: skip
    if query["type"] == "mq":
        right = [text[0] for text, right, _ in query["options"] if right]
        return {"selected_options": letters(given["o"]), "correct_options": right, "metric": "option_match"}
    reasons = {"judge_failed": "Judge failed", "no_response": "Model provided no response"}
    reason = {"judge_reason": reasons.get(given.get("x", ""), given.get("w", ""))}
    deduction = _deduction(given) if query["type"] == "mcd" else {}
    metric = "llm_judge_mcd" if deduction else "llm_judge"
    return {**reason, **deduction, "explanation": query["explanation"], "metric": metric}


def _deduction(given: Mapping[str, Any]) -> Json:
    if _failed(given):
        return {"ncr_score": 0.0, "crc_score": 0.0, "cc_score": 0.0, "node_validations": []}
    flags = [[flag == "Y" for flag in node] for node in given["n"].split()]
    names = ("mentioned", "specific_data_matched", "causal_link_correct")
    return {
        "ncr_score": given.get("ncr", sum(flag[1] for flag in flags) / len(flags)),
        "crc_score": sum(flag[2] for flag in flags) / len(flags),
        "cc_score": given["cc"],
        "node_validations": [
            {"node_id": number, **dict(zip(names, flag, strict=True)), "note": ""}
            for number, flag in enumerate(flags, start=1)
        ],
        "uses_patient_specific_info": bool(given["p"]),
        "memory_retrieval_quality": given["q"],
    }


# The truth


def _truth(query: Mapping[str, Any], given: Mapping[str, Any], judge: bool | None) -> bool:
    """A deduction's truth follows from its true grid by the published rule."""
    stated = bool(given["t"]) if "t" in given else not given.get("f") if judge is None else judge
    if query["type"] == "mcd":
        grid = [[flag == "Y" for flag in node] for node in given["tn"].split()]
        shares = [sum(node[column] for node in grid) / len(grid) for column in (0, 1)]
        patient = any(node[2] for node in grid)
        holds = (
            min(shares) >= SHARE_LEAST and float(given["tc"]) >= ANCHOR_LEAST and given["tk"] == "agrees" and patient
        )
        assert holds == stated, f"{query['question']}: {given['o']}"
    return stated


def _parts(query: Mapping[str, Any], given: Mapping[str, Any], regime: str) -> dict[str, str]:
    if query["type"] == "mcd":
        columns = ("stated", "causal", "patient")
        cells = {
            str(number): {column: "y" if flag == "Y" else "n" for column, flag in zip(columns, node, strict=True)}
            for number, node in enumerate(given["tn"].split(), start=1)
        }
        nodes = json.dumps(cells, sort_keys=True, separators=(",", ":"))
        return {"conclusion": given["tk"], "nodes": nodes, "cc": given["tc"]}
    retrieved = [name for name in given.get("g", ()) if regime == "m" or not name[1:].isdigit()]
    evidence = "yes" if set(query["points"]) <= set(retrieved) else "no"
    return {"abstained": "yes" if given.get("a") else "no", "evidence": evidence}


# The files


def runs_of(verdicts: Sequence[Verdict]) -> list[Run]:
    runs: dict[tuple[str, str, str], Run] = {}
    for verdict in verdicts:
        runs.setdefault(verdict.run, Run(*verdict.run)).verdicts.append(verdict)
    return list(runs.values())


def run_files(run: Run) -> dict[str, Json]:
    """The two files of a run by their path."""
    records = [verdict.record for verdict in run.verdicts]
    minute = 10 * list(SYSTEMS.values()).index(run.system) + 5 * (run.regime == "Mixed") + (run.language == "en")
    stem = f"medmemorybench_{run.system}_{MODEL}_20260502_09{minute:02d}00"
    folder = f"outputs/{run.system}_{MODEL}"
    names = {"method_name": run.system, "model_name": MODEL, "dataset_name": "medmemorybench"}
    return {
        f"{folder}/{stem}_query_answer.json": {
            **names,
            "summary": answer_summary(records),
            "by_context": _by_context(run.verdicts),
            "queries": records,
        },
        f"{folder}/{stem}_result.json": {
            **names,
            "start_time": f"2026-05-02T09:{minute:02d}:00",
            "end_time": f"2026-05-02T09:{minute + 4:02d}:00",
            "duration_seconds": 240.0,
            "summary": result_summary(records),
            "config": _config(run),
        },
    }


def _by_context(verdicts: Sequence[Verdict]) -> Json:
    contexts: dict[str, Json] = {}
    for verdict in verdicts:
        context = contexts.setdefault(str(verdict.persona), {"total": 0, "correct": 0, "query_ids": []})
        context["total"] += 1
        context["correct"] += 1 if verdict.record["is_correct"] else 0
        context["query_ids"].append(verdict.query_id)
    return contexts


def _config(run: Run) -> Json:
    evaluation = {"mode": "independent", "interval": 10, "inject_noise": run.regime == "Mixed"}
    return {
        "evaluation_mode": "independent",
        "evaluation_interval": 10,
        "total_personas": len({verdict.persona for verdict in run.verdicts}),
        "method_config": {"method_name": run.system},
        "dataset_config": {"dataset_name": "medmemorybench", "language": run.language, "evaluation": evaluation},
    }


def truth_csv(verdicts: Sequence[Verdict]) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(TRUTH_COLUMNS)
    words = {True: "correct", False: "incorrect", None: ""}
    for v in verdicts:
        parts = [v.parts.get(name, "") for name in ("conclusion", "nodes", "cc", "abstained", "evidence")]
        rows.writerow([*v.run, v.persona, v.query_id, v.task, words[v.judge], words[v.truth], *parts, v.harm,
                       TAGS.get(v.fault, ""), v.error])  # fmt: skip
    return text.getvalue()


def as_json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def build() -> dict[str, str]:
    """Every file by its path in the sample."""
    people = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(SOURCE.glob("*.toml"))]
    files = {
        f"data/{FOLDERS[p['language']]}/persona_{p['persona']}/eval/generated_queries.json": as_json(query_file(p))
        for p in people
    }
    verdicts = [verdict for person in people for verdict in verdicts_of(person)]
    runs = sorted(runs_of(verdicts), key=lambda run: (run.system, run.regime, run.language != "zh"))
    ordered = [verdict for run in runs for verdict in run.verdicts]
    for run in runs:
        files |= {name: as_json(value) for name, value in run_files(run).items()}
    template = Template((SOURCE / "README.template.md").read_text(encoding="utf-8"))
    return files | {"truth.csv": truth_csv(ordered), "README.md": template.substitute(readme_tables(runs))}


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the MedMemoryBench sample.")
    parser.add_argument("--into", type=Path, default=SAMPLE)
    folder: Path = parser.parse_args().into
    for name, text in build().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
