"""A judge and a reflecting model behind a real HTTP server, scripted on the sample table.

The judge makes the sample's planted mistakes, each as long as its prompt lacks the rule that mends that kind. The
reflecting model reads the mistakes it is shown and adds the rule for the commonest kind.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from random import Random

from retune_studies import TABLE

from tests.judging.chat_server import Reply, Request, completion, verdict

JUDGE, REFLECTOR = "scripted-judge", "scripted-reflector"

RULES = {
    "number_overlooked": "Before you decide, set every figure of one text beside that of the other; any gap decides.",
    "negation_overlooked": "Ask of each statement whether it affirms or denies, and let a clash decide against it.",
    "paraphrase_not_recognised": "Lay and technical terms for one thing are to be taken as equal.",
    "silence_taken_for_denial": "Where nothing speaks about a subject, refrain from calling it ruled out.",
}
"""The sentence that mends each kind of mistake."""
KIND_OF = {
    ("supported", "contradicted"): ("number_overlooked", "negation_overlooked"),
    ("not_stated", "supported"): ("paraphrase_not_recognised",),
    ("contradicted", "not_stated"): ("silence_taken_for_denial",),
}
"""What lies behind a mistake, by what the judge said and what people say."""


@dataclass(frozen=True)
class Claim:
    """What is known of an item: what the judge says of it by itself, what is true, and which mistake it is."""

    judge: str
    truth: str
    error: str


@cache
def claims() -> dict[tuple[str, str], Claim]:
    """Claims by note and response."""
    lines = (TABLE / "contexts.jsonl").read_text(encoding="utf-8").splitlines()
    notes = {one["context_id"]: one["context"] for one in map(json.loads, lines)}
    with (TABLE / "truth.csv").open(encoding="utf-8", newline="") as source:
        truth = {row["item_id"]: Claim(row["judge"], row["truth"], row["error"]) for row in csv.DictReader(source)}
    found = {}
    for line in (TABLE / "items.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[notes[row["context_ref"]], row["response"]] = truth[row["item_id"]]
    return found


def claim_of(request: Request) -> Claim:
    """The item that a judge's prompt shows."""
    sections = re.search(r"## Discharge note\n(.*?)\n\n## Claim\n(.*?)\nITEM ", request.text, re.DOTALL)
    assert sections is not None, request.text
    return claims()[sections[1], sections[2]]


@dataclass
class Models:
    """Both models.

    Attributes:
        failing: share of the judge's answers that are no verdict. pastes: the reflector quotes an item.
        noise: the judge says one of the labels at random, whatever the prompt.
        judged, reflected: calls that came.
    """

    failing: float = 0.0
    pastes: bool = False
    noise: bool = False
    judged: int = 0
    reflected: int = 0
    prompts: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: Request) -> Reply:
        if request.body["model"] == REFLECTOR:
            self.reflected += 1
            return Reply(completion(self.reflect(request.text), model=REFLECTOR))
        self.judged += 1
        self.prompts[json.dumps(request.body["messages"])] += 1
        return Reply(completion(self.judge(request), model=JUDGE))

    def judge(self, request: Request) -> str:
        claim, rubric = claim_of(request), str(request.body["messages"][0]["content"])
        luck = Random(json.dumps(request.body["messages"]))
        if luck.random() < self.failing:
            return "I would rather talk about the weather."
        if self.noise:
            return verdict(luck.choice(["supported", "contradicted", "not_stated"]))
        mended = claim.error and RULES[claim.error] in rubric
        said = claim.truth if mended or not claim.error else claim.judge
        return verdict(said, "The note and the claim were compared.")

    def reflect(self, text: str) -> str:
        instructions = text.split("==========\n")[1].strip()
        mistakes = re.findall(r"WRONG\. The judge said (\w+) .*?\nPeople say (\w+) ", text)
        for pair, _ in Counter(mistakes).most_common():
            missing = [kind for kind in KIND_OF.get(pair, ()) if RULES[kind] not in instructions]
            if missing:
                rule = RULES[missing[0]]
                if self.pastes:
                    rule += "\nAs in: " + re.findall(r"## Discharge note\n(.*)\n", text)[0]
                return f"Here they are.\n```\n{instructions}\n\n- {rule}\n```"
        return f"```\n{instructions}\n\nTake your time.\n```"


Script = Callable[[Request], Reply]
