"""Build the table sample: items.jsonl, contexts.jsonl, truth.csv and README.md.

    python sample_data/table/source/build.py [--into FOLDER]

`phrases.toml` holds everything that a person wrote. Which patient has what, what a system claims, where judge and
annotators slip is drawn with a fixed seed; building twice gives the same bytes. The standard library is enough.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import random
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

SOURCE = Path(__file__).resolve().parent
SAMPLE = SOURCE.parent
SEED = 20270501

CASES = 64
TOPICS_A_CASE = 3
SYSTEMS = {"scribe-a": (0.5, 0.3, 0.2), "scribe-b": (0.7, 0.15, 0.15)}
"""System → how often its claims are supported, contradicted, not stated."""

LABELS = ("supported", "contradicted", "not_stated")
SLIPS = {"A1": 0.03, "A2": 0.06}
"""Annotator → share of labels that are not the truth."""

FAILED = 3
JUDGE = "sample-judge"
PARAPHRASED = 0.5
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """One item with its hidden truth. `could` is the error the judge may make on it, `error` the one it made; `why` is
    what a person who gets it right notes where the other does not."""

    case: int
    topic: str
    system: str
    text: str
    truth: str
    could: str
    error: str
    judge: str | None
    rationale: str
    labels: Mapping[str, str]
    why: str

    @property
    def item_id(self) -> str:
        return f"{self.case:04d}-{self.topic}-{self.system}"

    def row(self) -> Json:
        verdict: Json = {"judge": JUDGE, "label": self.judge}
        if self.rationale:
            verdict["rationale"] = self.rationale
        disputed = len(set(self.labels.values())) > 1
        people: list[Json] = [{"annotator": who, "label": said, "mode": "blind"} for who, said in self.labels.items()]
        for person in people:
            if disputed and person["label"] == self.truth:
                person["note"] = self.why
        adjudicated = {"gold": self.truth} if disputed else {}
        return {
            "item_id": self.item_id,
            "context_ref": f"note-{self.case:04d}",
            "response": self.text,
            "system": self.system,
            "group": self.topic,
            "cluster": f"note-{self.case:04d}",
            "human": people,
            **adjudicated,
            "judge": [verdict],
        }


class Case:
    """One patient: the facts, the note, and the topics that are claimed about."""

    def __init__(self, number: int, phrases: Mapping[str, Any], chance: random.Random) -> None:
        self.number = number
        topics = phrases["topics"]
        medicine, clinic = chance.choice(phrases["medicines"]), chance.choice(phrases["clinics"])
        dose, other_dose = chance.sample(medicine["doses"], 2)
        weeks, other_weeks = chance.sample(clinic["weeks"], 2)
        value = round(chance.uniform(3.4, 5.2), 1)
        self._facts = {
            "medicine": medicine["name"].capitalize(),
            "kind": medicine["kind"],
            "dose": dose,
            "other_dose": other_dose,
            "allergen": chance.choice(phrases["allergens"]),
            "value": value,
            "other_value": round(value + chance.choice((-1, 1)), 1),
            "clinic": clinic["name"],
            "weeks": weeks,
            "other_weeks": other_weeks,
            "span": phrases["spans"][str(weeks)],
            "cigarettes": chance.choice((5, 10, 20)),
        }
        own = ["medicine", chance.choice(("allergy", "no_allergy")), "potassium", "follow_up"]
        own.append(chance.choice(("smoking", "smoker")))
        self.topics = chance.sample(own, TOPICS_A_CASE)
        age, stay = chance.randint(52, 91), chance.randint(2, 9)
        title = chance.choice(("Mr", "Mrs"))
        reason = chance.choice(phrases["reasons"])
        opening = f"{title} {phrases['surnames'][number]}, {age}, was admitted with {reason} and stayed {stay} days."
        self.note = " ".join([opening, *(self.say(topics[topic]["note"]) for topic in own)])

    def say(self, phrase: str) -> str:
        text = phrase.format(**self._facts)
        return text[:1].upper() + text[1:]


def build_claims(phrases: Mapping[str, Any]) -> tuple[list[Case], list[Claim]]:
    """The cases, and the claims of both systems about them."""
    chance = random.Random(SEED)
    cases = [Case(number, phrases, chance) for number in range(CASES)]
    drafts = [
        (case, topic, system, truth, _wording(truth, chance))
        for case in cases
        for topic in case.topics
        for system, shares in SYSTEMS.items()
        for truth in chance.choices(LABELS, shares)
    ]
    could = [_could(wording, phrases["topics"][topic]) for _, topic, _, _, wording in drafts]
    errors = _planted(could, phrases["errors"], chance)
    failed = set(chance.sample([place for place, error in enumerate(errors) if not error], FAILED))
    claims = [
        _claim(phrases, draft, could[place], errors[place], place in failed, chance)
        for place, draft in enumerate(drafts)
    ]
    return cases, claims


def _wording(truth: str, chance: random.Random) -> str:
    if truth != "supported":
        return truth
    return "paraphrase" if chance.random() < PARAPHRASED else "literal"


def _could(wording: str, topic: Mapping[str, str]) -> str:
    """The error that the judge makes on some claims of this wording."""
    if wording == "contradicted":
        return f"{topic['contradicted_by']}_overlooked"
    return {"paraphrase": "paraphrase_not_recognised", "not_stated": "silence_taken_for_denial"}.get(wording, "")


def _planted(could: Sequence[str], errors: Mapping[str, Any], chance: random.Random) -> list[str]:
    """The error made on each claim, "" for none: exactly the share of each kind, rounded."""
    made = [""] * len(could)
    for kind, about in errors.items():
        places = [place for place, name in enumerate(could) if name == kind]
        for place in chance.sample(places, round(about["share"] * len(places))):
            made[place] = kind
    return made


def _claim(
    phrases: Mapping[str, Any],
    draft: tuple[Case, str, str, str, str],
    could: str,
    error: str,
    failed: bool,
    chance: random.Random,
) -> Claim:
    case, topic, system, truth, wording = draft
    judge = phrases["errors"][error]["says"] if error else truth
    why = phrases["errors"][error]["why"] if error else phrases["rationales"][truth]
    labels = {
        who: chance.choice([label for label in LABELS if label != truth]) if chance.random() < share else truth
        for who, share in SLIPS.items()
    }
    return Claim(
        case=case.number,
        topic=topic,
        system=system,
        text=case.say(phrases["topics"][topic][wording]),
        truth=truth,
        could=could,
        error=error,
        judge=None if failed else judge,
        rationale="" if failed else why,
        labels=labels,
        why=phrases["notes"][could or "literal"],
    )


def truth_csv(claims: Iterable[Claim]) -> str:
    """One row an item: what the judge said, what is true, and the planted error."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("item_id", "system", "judge", "truth", "error"))
    for claim in claims:
        rows.writerow((claim.item_id, claim.system, claim.judge or "", claim.truth, claim.error))
    return text.getvalue()


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "0 of 0"


def readme_tables(claims: Sequence[Claim], phrases: Mapping[str, Any]) -> dict[str, str]:
    """The counted parts of the README."""

    def errors() -> Iterator[str]:
        for kind in phrases["errors"]:
            cells = []
            for names in (*([system] for system in SYSTEMS), list(SYSTEMS)):
                could = [claim for claim in claims if claim.could == kind and claim.system in names]
                cells.append(_share(sum(claim.error == kind for claim in could), len(could)))
            yield f"| `{kind}` | `{phrases['errors'][kind]['says']}` | {' | '.join(cells)} |"

    def shares() -> Iterator[str]:
        for system in SYSTEMS:
            own = [claim for claim in claims if claim.system == system]
            read = [claim for claim in own if claim.judge is not None]
            for label in LABELS:
                judged = sum(claim.judge == label for claim in read) / len(read)
                true = sum(claim.truth == label for claim in own) / len(own)
                yield f"| `{system}` | `{label}` | {judged:.6f} | {true:.6f} |"

    def people() -> Iterator[str]:
        for who in SLIPS:
            yield f"| {who} | {_share(sum(c.labels[who] != c.truth for c in claims), len(claims))} |"
        differ = sum(len(set(claim.labels.values())) > 1 for claim in claims)
        yield f"| the two differ, `gold` decides | {_share(differ, len(claims))} |"
        both = sum(
            set(claim.labels.values()) != {claim.truth} and len(set(claim.labels.values())) == 1 for claim in claims
        )
        yield f"| both say the same wrong label | {_share(both, len(claims))} |"

    wrong = sum(bool(claim.error) for claim in claims)
    return {
        "items": str(len(claims)),
        "cases": str(CASES),
        "wrong": _share(wrong, len(claims)),
        "failed": str(sum(claim.judge is None for claim in claims)),
        "errors": "\n".join(errors()),
        "shares": "\n".join(shares()),
        "people": "\n".join(people()),
    }


def build_files(source: Path) -> dict[str, str]:
    """Name → text of every built file."""
    phrases = tomllib.loads((source / "phrases.toml").read_text(encoding="utf-8"))
    cases, claims = build_claims(phrases)
    notes = [{"context_id": f"note-{case.number:04d}", "context": case.note} for case in cases]
    template = Template((source / "README.template.md").read_text(encoding="utf-8"))
    return {
        "items.jsonl": "".join(json.dumps(claim.row(), ensure_ascii=False) + "\n" for claim in claims),
        "contexts.jsonl": "".join(json.dumps(note, ensure_ascii=False) + "\n" for note in notes),
        "truth.csv": truth_csv(claims),
        "README.md": template.substitute(readme_tables(claims, phrases)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the table sample from its source.")
    parser.add_argument("--into", type=Path, default=SAMPLE, help="folder for the built files (default: the sample's)")
    folder = parser.parse_args().into
    for name, text in build_files(SOURCE).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
