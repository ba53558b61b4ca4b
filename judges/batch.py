"""OpenAI Batch files: calls out at half the price, answers in whenever they come.

A line is one call, named by the verdict it is for. What a line is for stands in the study, so that answers can be read
back in any order, in several files, and more than once.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from judges.asking import ChatAsker, Outcome, Prepared, outcome_of
from judges.backends.answer import Answer, ServerUnusableError
from judges.backends.chat import Complaint, Refused, Transient, answer_of, of_status, request_body
from judges.backends.prices import Budget
from judges.benchmarks.benchmark import get_benchmark
from judges.collect import task_definitions
from judges.rubric import JudgePrompt, Prompt, rubric_of
from judges.run import Job, JudgeRun, Known, judged_of, linked_of, served_by_answer
from judges.served import Family, SplitBy
from judges.setup import study_rubric
from judges.verdict_reader import REJECTED, SERVER_ERROR
from store.files import private_umask
from store.items import StoredItem, get_items, get_texts
from store.judged_rows import Judged
from store.judging import BatchRequest, add_judge, batch_requests, judges_of_task, write_judged, write_requests
from store.records import JudgeRecord, Problem, VerdictRecord
from store.study import Study

URL = "/v1/chat/completions"
MOST_LINES, MOST_BYTES = 50_000, 190_000_000
"""What OpenAI takes in one file, with some room."""
_CHUNK = 500


@dataclass
class BatchOut:
    """What was written: files, calls, items whose identical input has a line or a verdict, items that need no call."""

    files: list[Path] = field(default_factory=list)
    calls: int = 0
    linked: int = 0
    given: int = 0

    def as_json(self) -> dict[str, Any]:
        return {"files": [str(file) for file in self.files], "calls": self.calls, "linked": self.linked,
                "given": self.given}  # fmt: skip


def write_batch(study: Study, runs: Sequence[JudgeRun], path: Path) -> BatchOut:
    """Write a line for every slot of these runs that has no verdict; several files where one would be too long.

    Raises:
        OSError: the file cannot be written.
    """
    out = BatchOut()
    with private_umask(), _Files(path) as files:
        for run in runs:
            _write_run(study, run, files, out)
    out.files = files.written
    return out


def _write_run(study: Study, run: JudgeRun, files: _Files, out: BatchOut) -> None:
    asker = run.asker
    assert isinstance(asker, ChatAsker)
    add_judge(study, asker.judge)
    leaders: dict[tuple[str, int], str] = {}
    for jobs, known in run.pages():
        requests: list[BatchRequest] = []
        given: list[Judged] = []
        for job in jobs:
            if (one := _without_call(study, run, job, known)) is not None:
                given.append(one)
                continue
            key = (job.prepared.hash, job.repetition)
            if key not in leaders:
                leaders[key] = _custom_id(job, asker.judge.judge_id)
                body = request_body(asker.settings, asker.question(job.prepared.content, job.repetition))
                line = {"custom_id": leaders[key], "method": "POST", "url": URL, "body": body}
                files.write(json.dumps(line, ensure_ascii=False))
                out.calls += 1
            else:
                out.linked += 1
            requests.append(_request(job, run.run_id, leaders[key], asker.judge.judge_id))
        if requests:
            write_requests(study, requests)
        if given:
            write_judged(study, run.run_id, given).result()
            linked = sum(bool(one.call.same_as) for one in given)
            out.linked, out.given = out.linked + linked, out.given + len(given) - linked


def _without_call(study: Study, run: JudgeRun, job: Job, known: Known) -> Judged | None:
    """The verdict of a job that no line is needed for; None where one is."""
    key = (job.prepared.hash, job.repetition)
    if job.prepared.given is not None:
        return judged_of(job, job.prepared.given, run.asker.judge.judge_id)
    if (verdict := known.same.get(key)) is not None:
        return linked_of(job, verdict, job.prepared.hash)
    if (outcome := known.kept.get(key)) is not None:
        judge = run.identity_of(outcome)
        add_judge(study, judge)
        return judged_of(job, outcome, judge.judge_id)
    return None


def _custom_id(job: Job, judge_id: str) -> str:
    verdict = VerdictRecord(job.item.item_id, job.item.content_hash, judge_id, None, repetition=job.repetition)
    return f"overread-{verdict.verdict_id}"


def _request(job: Job, run_id: str, custom_id: str, judge_id: str) -> BatchRequest:
    item = job.item
    return BatchRequest(
        custom_id, run_id, item.task, item.item_id, item.content_hash, judge_id, job.repetition, job.prepared.hash
    )


class _Files:
    """The lines in files of a length that a batch may have; none stands under its name before it is whole."""

    def __init__(self, path: Path) -> None:
        self._path, self.written = path, list[Path]()
        self._out: Any = None
        self._lines = self._bytes = 0

    def __enter__(self) -> _Files:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._out is None:
            return
        self._out.close()
        part = self._part()
        if kind is None:
            part.replace(self._name())
            self.written.append(self._name())
        else:
            part.unlink(missing_ok=True)

    def write(self, line: str) -> None:
        """One more line."""
        size = len(line.encode("utf-8", "replace")) + 1
        if self._out is not None and (self._lines >= MOST_LINES or self._bytes + size > MOST_BYTES):
            self._out.close()
            self._part().replace(self._name())
            self.written.append(self._name())
            self._out = None
        if self._out is None:
            self._lines = self._bytes = 0
            self._out = self._part().open("w", encoding="utf-8", errors="replace")
        self._out.write(f"{line}\n")
        self._lines, self._bytes = self._lines + 1, self._bytes + size

    def _name(self) -> Path:
        number = len(self.written)
        return self._path if number == 0 else self._path.with_name(f"{self._path.stem}-{number + 1}{self._path.suffix}")

    def _part(self) -> Path:
        return self._name().with_name(f"{self._name().name}.part")


# Answers in


@dataclass
class BatchIn:
    """What was read.

    Attributes:
        judged, linked: verdicts that are new. same: slots that had a verdict already. failures: kind → count.
        unanswered: calls that the batch did not get to; their slots stay open.
        stale: answers on items that have changed since. problems: lines that cannot be read or are not ours.
        others: judge → model asked for, of servers that are not the judge's first and whose anchors nobody judged.
    """

    judged: int = 0
    linked: int = 0
    same: int = 0
    unanswered: int = 0
    stale: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    cost: float | None = None
    problems: list[Problem] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        return {
            "judged": self.judged, "linked": self.linked, "same": self.same, "unanswered": self.unanswered,
            "stale": self.stale, "failures": dict(sorted(self.failures.items())), "cost": self.cost,
            "bad_lines": len(self.problems), "other_servers": sorted(self.others),
        }  # fmt: skip


class _Line(NamedTuple):
    number: int
    custom_id: str
    answer: Answer | None
    """None for a call that was not made."""


def read_batch(study: Study, path: Path, budget_of: Any, split_by: SplitBy = "fingerprint") -> BatchIn:
    """Store the verdicts of a batch's output or error file.

    Args:
        budget_of: model → the `Budget` that its calls are counted by.
        split_by: what makes the server another one.

    Raises:
        OSError: the file cannot be read.
    """
    found, reader = BatchIn(), _Reader(study, budget_of, split_by)
    chunk: list[_Line] = []
    for line in _lines(path, found.problems):
        chunk.append(line)
        if len(chunk) == _CHUNK:
            reader.take(chunk, path, found)
            chunk = []
    reader.take(chunk, path, found)
    costs = [budget.spent for budget in reader.budgets.values() if budget.price is not None]
    found.cost = sum(costs) if costs else None
    found.others = reader.others
    return found


def _lines(path: Path, problems: list[Problem]) -> Iterator[_Line]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, text in enumerate(lines, start=1):
            if not text.strip():
                continue
            try:
                data = json.loads(text)
                yield _Line(number, str(data["custom_id"]), _answer(data))
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
                problems.append(Problem(str(path), number, 0, "this is no line of a batch's output",
                                        "give the output or error file of the batch"))  # fmt: skip


def _answer(data: Mapping[str, Any]) -> Answer | None:
    """The answer of a line; None where the batch ended before it."""
    response = data.get("response")
    if not isinstance(response, dict):
        code = (data.get("error") or {}).get("code", "")
        return None if code in ("batch_expired", "batch_cancelled", "") else Answer(failure=REJECTED, why=str(code))
    status, body = int(response.get("status_code", 0)), response.get("body")
    try:
        if status == 200:
            return answer_of(body)
        error = body.get("error", body) if isinstance(body, dict) else body
        return of_status(status, {}, error, "")
    except (Transient, Refused, ServerUnusableError):
        return Answer(failure=SERVER_ERROR, why=f"the server answered {status}")
    except Complaint as complaint:
        return Answer(failure=REJECTED, why=complaint.why)


class _Reader:
    """Turns lines into verdicts."""

    def __init__(self, study: Study, budget_of: Any, split_by: SplitBy) -> None:
        self.study, self._budget_of, self._split_by = study, budget_of, split_by
        self.budgets: dict[str, Budget] = {}
        self.run_id = secrets.token_hex(8)
        self._tasks = task_definitions(study)
        self._prompts: dict[str, JudgePrompt] = {}
        self._families: dict[str, Family] = {}
        self._judges: dict[str, dict[str, JudgeRecord]] = {}

    @property
    def others(self) -> dict[str, str]:
        """The judges that servers became, by name, as far as no run has judged the labelled items with them again."""
        families = [Family(self.study, family.base, self._split_by) for family in self._families.values()]
        return {judge.name: judge.model for family in families for _, judge in family.unsettled}

    def take(self, lines: Sequence[_Line], path: Path, found: BatchIn) -> None:
        """Store what these lines say."""
        by_id = batch_requests(self.study, [line.custom_id for line in lines])
        wanted = {request.item_id for requests in by_id.values() for request in requests}
        items = get_items(self.study, sorted(wanted))
        texts = get_texts(self.study, {value for item in items.values() for value in item.texts.values()})
        judged: list[Judged] = []
        for line in lines:
            requests = by_id.get(line.custom_id, [])
            if not requests:
                found.problems.append(Problem(str(path), line.number, 0, "this study asked for no such call",
                                              "open the study that wrote the batch"))  # fmt: skip
            elif line.answer is None:
                found.unanswered += len(requests)
            else:
                judged += self._judged(line.answer, requests, items, texts, found)
        if judged:
            self._store(judged, found)

    def _store(self, judged: Sequence[Judged], found: BatchIn) -> None:
        stored = write_judged(self.study, self.run_id, judged).result()
        for one in judged:
            if one.verdict.verdict_id not in stored:
                found.same += 1
            elif one.verdict.failure:
                found.failures[one.verdict.failure] += 1
            elif one.call.same_as:
                found.linked += 1
            else:
                found.judged += 1

    def _judged(
        self, answer: Answer, requests: Sequence[BatchRequest], items: Mapping[str, StoredItem],
        texts: Mapping[str, str], found: BatchIn,
    ) -> Iterator[Judged]:  # fmt: skip
        first: VerdictRecord | None = None
        for request in requests:
            item = items.get(request.item_id)
            if item is None or item.content_hash != request.content_hash:
                found.stale += 1
                continue
            prompt = self._prompt(item, texts)
            job = Job(item, request.repetition, _prepared(request, prompt))
            if first is not None:
                yield linked_of(job, first, request.prompt_hash)
                continue
            one = judged_of(job, self._outcome(answer, prompt, request), self._judge(request, answer).judge_id)
            first = one.verdict
            yield one

    def _prompt(self, item: StoredItem, texts: Mapping[str, str]) -> Prompt:
        if item.task not in self._prompts:
            task = self._tasks[item.task]
            also = rubric_of(get_benchmark(self.study.benchmark), task).also_sees
            self._prompts[item.task] = JudgePrompt(task, study_rubric(self.study, task).texts, also)
        own = {name: texts[value] for name, value in item.texts.items()}
        return self._prompts[item.task].of(item.payload, own, item.slices)

    def _outcome(self, answer: Answer, prompt: Prompt, request: BatchRequest) -> Outcome:
        model = self._record(request).model
        budget = self.budgets.setdefault(model, self._budget_of(model))
        cost = budget.settle(0.0, answer.tokens_in, answer.tokens_out, answered=not answer.failure)
        return outcome_of(replace(answer, attempts=1, format="schema"), prompt, cost)

    def _record(self, request: BatchRequest) -> JudgeRecord:
        judges = self._judges.setdefault(request.task, judges_of_task(self.study, request.task))
        return judges[request.judge_id]

    def _judge(self, request: BatchRequest, answer: Answer) -> JudgeRecord:
        """The judge that the answer belongs to: the one asked for, or what the server has become."""
        record = self._record(request)
        served = served_by_answer(answer)
        if served is None:
            return record
        family = self._families.setdefault(request.judge_id, Family(self.study, record, self._split_by))
        judge = family.record_of(served)
        add_judge(self.study, judge)
        return judge


def _prepared(request: BatchRequest, prompt: Prompt) -> Prepared:
    return Prepared(request.prompt_hash, prompt, 0.0, prompt.signs, prompt.language)
