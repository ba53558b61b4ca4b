"""How often a whole search promotes a prompt when there is nothing to find: labels and verdicts are both drawn by lot.

    python -m tests.performance.noise --seeds 100

Each seed is a study of its own with its own labels, split and search, against a real HTTP server on this machine whose
judge answers by lot and whose other model proposes a new sentence each time. Prints what each search came to, and at
the end how many were promoted: more than 6 of 100 would mean that the sealed test does not hold what it promises.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import logging
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from judges.collect import task_definitions
from judges.retune.adapter import Settings
from judges.retune.retune import Result, Retune
from judges.setup import JudgeOptions, chat_backend, judge_prompt, make_budget
from store.study import Study
from tests.gate.gate_studies import RIGHT, TASKS, WRONG, study_of
from tests.judging.chat_server import ChatServer, Reply, Request, completion, serving, verdict

JUDGE, REFLECTOR = "judge-by-lot", "proposer"
MOST_OF_A_HUNDRED = 6
OF_A_GROUP = 4
TASK_FILE = f'[columns]\ncluster = "page"\n{TASKS}'


class ByLot:
    """Both models: the judge says a label by lot, fixed by seed, prompt and item; the other adds a sentence."""

    def __init__(self, seed: int) -> None:
        self.seed, self.proposed = seed, 0

    def __call__(self, request: Request) -> Reply:
        if request.body["model"] == JUDGE:
            luck = Random(f"{self.seed} {json.dumps(request.body['messages'])}")
            return Reply(completion(verdict(luck.choice((RIGHT, WRONG))), model=JUDGE))
        self.proposed += 1
        instructions = request.text.split("==========\n")[1].strip()
        said = f"```\n{instructions}\n\nKeep rule {self.proposed} of series {self.seed} in mind.\n```"
        return Reply(completion(said, model=REFLECTOR))


def study_by_lot(folder: Path, seed: int, items: int) -> Study:
    """An open study whose labels are drawn by lot."""
    luck = Random(f"labels {seed}")
    rows = [
        {"item_id": f"i{n}", "page": f"p{n // OF_A_GROUP}", "response": f"Statement {n} of study {seed}.",
         "human": [{"annotator": "A1", "label": luck.choice((RIGHT, WRONG)), "mode": "blind"}]}
        for n in range(items)
    ]  # fmt: skip
    with contextlib.redirect_stderr(io.StringIO()):
        return study_of(folder / "s.duckdb", rows, TASK_FILE)


def searched(study: Study, server: ChatServer, settings: Settings) -> Result:
    """A whole search, as the command runs it."""
    options = JudgeOptions(JUDGE, server.url, concurrency=16, logprobs=False)
    reflect = JudgeOptions(REFLECTOR, server.url, temperature=1.0, max_tokens=8192, format="text", logprobs=False)
    task = task_definitions(study)["check"]
    found = Retune(study, task, judge_prompt(study, task), settings, seed_of_split=settings.seed)
    with asyncio.Runner() as runner:

        async def made(one: JudgeOptions) -> object:
            return chat_backend(one)

        judge, proposer = (runner.run(made(one)) for one in (options, reflect))
        try:
            other = (reflect, proposer, make_budget(reflect))
            return found.run(options, judge, make_budget(options), runner, other)  # type: ignore[arg-type]
        finally:
            for one in (judge, proposer):
                runner.run(one.close())  # type: ignore[attr-defined]


def search_by_lot(seed: int, items: int, proposals: int) -> Result:
    """One seed: a study, a server and a search of its own."""
    with (
        tempfile.TemporaryDirectory() as folder,
        study_by_lot(Path(folder), seed, items) as study,
        serving(ByLot(seed)) as server,
    ):
        return searched(study, server, Settings(proposals=proposals, seed=seed))


def main() -> int:
    """Search under each seed and count."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--proposals", type=int, default=8)
    given, _ = parser.parse_known_args()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # of connections that end with their server
    outcomes: Counter[str] = Counter()
    promoted = tested = 0
    for seed in range(given.first, given.first + given.seeds):
        found = search_by_lot(seed, given.items, given.proposals)
        outcomes[found.outcome] += 1
        promoted += found.promoted
        tested += found.promotion is not None
        gain = "" if found.promotion is None else f", {found.promotion.difference.value:+.3f} on the sealed test"
        best = max(one.val_score for one in found.candidates) - found.candidates[0].val_score
        print(f"seed {seed}: {len(found.candidates)} candidates, {best:+.3f} on val{gain}: {found.outcome}", flush=True)
    print(f"{promoted} of {given.seeds} promoted; {tested} went to the sealed test; {dict(outcomes)}")
    return int(promoted > MOST_OF_A_HUNDRED * given.seeds / 100)


if __name__ == "__main__":
    raise SystemExit(main())
