"""Runs a judge over items: streams them, asks, stores every verdict as it comes, and goes on where it stopped.

A slot is one item in one repetition under one judge (its model, prompt version and parameters). A slot with a verdict
is never asked for again, so a run that was stopped, or killed, pays nothing twice but what was on its way. Items that
the judge cannot tell apart are asked about once and linked. Memory does not grow with the number of items.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from judges.asking import Asker, Outcome, Prepared, Recalling
from judges.backends.answer import Answer, ServerUnusableError
from judges.drift import Drift, anchors_of, compare_judges
from judges.menu import NoMenuError
from judges.served import Family, Served, SplitBy
from judges.verdict_reader import SERVER_ERROR, TIMEOUT
from store.errors import OverreadError
from store.items import StoredItem, get_items, get_texts
from store.judged_rows import Call, Judged
from store.judging import (
    PageKey,
    Slot,
    Which,
    add_judge,
    begin_run,
    count_done,
    count_items,
    end_run,
    items_page,
    same_inputs,
    slots_of,
    write_judged,
)
from store.records import JudgeRecord, VerdictRecord
from store.study import Study, now

ASK_AGAIN = (TIMEOUT, SERVER_ERROR)
"""Failures of the way, not of the answer: the next run asks again by itself."""

SAME_INPUT = "same_input"
"""Route of a verdict taken over from an item with the identical input."""

_PAGE = 256
_RENEW = 2048
"""Verdicts after which the study gives back the memory that storing them took."""
_MOST_WAITING = 2000
"""Verdicts that may wait to be stored before no more are asked for."""


@dataclass
class RunState:
    """What a run has done so far; read by whoever shows it.

    Attributes:
        slots: all that the run is about. before: those that had a verdict already.
        judged: asked and read. kept: answered in a search before. linked: taken over from identical inputs.
        given: needed no call. anchors: judged again because the server changed, beside the slots; read or failed.
        failures: kind → count. skipped: cannot be judged. requests: sent, retries included.
        flagged: items whose text tries to steer a judge. running: calls on their way. limit: how many may be.
        spent: dollars, None where nobody knows the price. unsure: what calls without an answer may have cost beside it.
        note: what is going on, when it is not simply judging.
    """

    slots: int = 0
    before: int = 0
    judged: int = 0
    kept: int = 0
    linked: int = 0
    given: int = 0
    anchors: int = 0
    skipped: int = 0
    flagged: int = 0
    silent: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    running: int = 0
    spent: float | None = None
    unsure: float = 0.0
    cap: float | None = None
    tokens_in: int = 0
    tokens_out: int = 0
    started: float = field(default_factory=time.monotonic)
    note: str = ""

    @property
    def done(self) -> int:
        """Slots of this run that are settled now."""
        return self.read + sum(self.failures.values())

    @property
    def read(self) -> int:
        """Slots that got a verdict in this run."""
        return self.judged + self.kept + self.linked + self.given

    @property
    def left(self) -> int:
        return max(0, self.slots - self.before - self.done - self.skipped)

    @property
    def rate(self) -> float:
        """Settled slots a second since the run began."""
        passed = time.monotonic() - self.started
        return self.done / passed if passed > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        return self.left / self.rate if self.rate > 0 else None


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended.

    Attributes:
        outcome: done, stopped (by the user), cap (the next call could pass it), unusable or refused (see `error`).
        changes: servers that came up during the run, each with what re-judging the anchors showed.
    """

    run_id: str
    task: str
    judge: str
    state: RunState
    outcome: str
    changes: tuple[tuple[str, Drift], ...] = ()
    error: OverreadError | None = None

    def as_json(self) -> dict[str, Any]:
        state = self.state
        return {
            "run": self.run_id, "task": self.task, "judge": self.judge, "outcome": self.outcome,
            "slots": state.slots, "before": state.before, "judged": state.judged, "kept": state.kept,
            "linked": state.linked, "given": state.given, "anchors": state.anchors, "skipped": state.skipped,
            "failures": dict(sorted(state.failures.items())), "left": state.left, "requests": state.requests,
            "tokens_in": state.tokens_in, "tokens_out": state.tokens_out, "cost": state.spent,
            "may_have_cost": state.unsure, "cap": state.cap,
            "flagged": state.flagged,
            "without_rationale": state.silent,
            "changes": [{"judge": name, "anchors": drift.as_json()} for name, drift in self.changes],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Scope:
    """What a run is about.

    Attributes:
        repeats: repetitions of every item. again: kinds of failures that are asked for again.
        concurrency: calls on their way at a time.
    """

    task: str
    which: Which = "all"
    repeats: int = 1
    again: tuple[str, ...] = ASK_AGAIN
    concurrency: int = 8
    split_by: SplitBy = "fingerprint"


Store = Callable[[Study, str, Sequence[Judged]], Future[Any]]
"""Makes the verdicts of a run safe: `write_judged`, or by way of shards."""
OnChange = Callable[[JudgeRecord, Drift], OverreadError | None]


class Job(NamedTuple):
    """One slot to be asked for; `anchor` is the new judge of an item that has the verdict of an earlier one."""

    item: StoredItem
    repetition: int
    prepared: Prepared
    anchor: JudgeRecord | None = None


class Known(NamedTuple):
    """What needs no call, by (prompt, repetition): the verdict on an identical input; what a search had answered."""

    same: Mapping[tuple[str, int], VerdictRecord]
    kept: Mapping[tuple[str, int], Outcome]


class JudgeRun:
    """One run of one judge over one task. `state` may be read at any time; `stop()` ends it in good order."""

    def __init__(
        self,
        study: Study,
        asker: Asker,
        scope: Scope,
        on_change: OnChange | None = None,
        store: Store = write_judged,
    ) -> None:
        """`on_change` is asked, on another thread, when the server became another one and its anchors are judged: with
        the new judge and how it compares; an error it returns ends the run."""
        self.study, self.asker, self.scope = study, asker, scope
        self._on_change = on_change
        self._refusal: OverreadError | None = None
        self._store_judged = store
        budget = asker.budget
        self._earlier = (asker.requests, budget.tokens_in, budget.tokens_out, budget.spent, budget.unsure)
        self.state = RunState(
            cap=None if budget.cap is None else budget.cap - budget.spent - budget.unsure,
            spent=None if budget.price is None else 0.0,
        )
        self.run_id = secrets.token_hex(8)
        self.family = Family(study, asker.judge, scope.split_by)
        self._stop = asyncio.Event()
        self._changed: list[Served] = []
        self._changes: list[tuple[str, Drift]] = []
        self._running: set[asyncio.Task[None]] = set()
        self._followers: dict[tuple[str, int], list[Job]] = {}
        self._recent: OrderedDict[tuple[str, int], VerdictRecord] = OrderedDict()
        self._known_judges: set[str] = {asker.judge.judge_id}
        self._stored: asyncio.Queue[tuple[Judged, asyncio.Future[None]]] = asyncio.Queue()
        self._fault: BaseException | None = None
        self._at_cap = self._answered_by_server = False
        self._renewed = 0

    def stop(self) -> None:
        """Send no further call; those on their way are waited for and stored."""
        self._stop.set()

    def drop(self) -> None:
        """Do not even wait for the calls on their way."""
        self._stop.set()
        for task in self._running:
            task.cancel()

    async def run(self) -> RunResult:
        """Judge what has no verdict yet.

        Raises:
            OverreadError: the study cannot be written.
        """
        scope, ids = self.scope, self.family.judge_ids
        await asyncio.to_thread(add_judge, self.study, self.asker.judge)
        self.state.slots = self.slots
        self.state.before = count_done(self.study, scope.task, scope.which, ids, scope.repeats, scope.again)
        settings = {"which": scope.which, "repeats": scope.repeats, "concurrency": scope.concurrency,
                    "model": self.asker.judge.model, "parameters": dict(self.asker.judge.parameters)}  # fmt: skip
        judge_id = self.asker.judge.judge_id
        await asyncio.to_thread(begin_run, self.study, self.run_id, scope.task, judge_id, settings, _time())
        writer = asyncio.create_task(self._write())
        error: OverreadError | None = None
        try:
            await self._all()
        except ServerUnusableError as unusable:
            error = unusable
        finally:
            await self._drain()
            await self._stored.join()
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await writer
        self._count_calls()
        if self._fault is not None and not isinstance(self._fault, ServerUnusableError):
            raise self._fault
        result = RunResult(self.run_id, scope.task, self.asker.judge.name, self.state, self._outcome(error),
                           tuple(self._changes), error or self._refusal)  # fmt: skip
        outcome = result.outcome
        await asyncio.to_thread(end_run, self.study, self.run_id, outcome, result.as_json(), _time())
        return result

    def _outcome(self, error: OverreadError | None) -> str:
        if error is not None:
            return "unusable"
        if self._refusal is not None:
            return "refused"
        return "cap" if self._at_cap else "stopped" if self._stop.is_set() else "done"

    # Asking

    async def _all(self) -> None:
        async with contextlib.aclosing(self._jobs()) as jobs:
            async for job in jobs:
                if not await self._after_changes() or not await self._has_room(job.prepared.most):
                    break
                self._start(job)
        await self._drain()
        if await self._after_changes() and not self._at_cap:
            await self._take_up_anchors()
        self._raise_fault()

    async def _has_room(self, most: float) -> bool:
        """Wait for a place and for money; False when the run ends here."""
        while not self._stop.is_set():
            self._raise_fault()
            if len(self._running) < 2 * self.scope.concurrency and self._stored.qsize() < _MOST_WAITING:
                if self.asker.budget.reserve(most):
                    return True
                if not self._running:
                    self._at_cap = True
                    return False
            await self._one_ends()
        return False

    async def _one_ends(self) -> None:
        if self._running:
            await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(0.01)

    def _start(self, job: Job) -> None:
        task = asyncio.create_task(self._judge(job))
        self._running.add(task)
        self.state.running = len(self._running)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self.state.running = len(self._running)
        if not task.cancelled() and (fault := task.exception()) is not None and self._fault is None:
            self._fault = fault
            self._stop.set()
            if isinstance(fault, ServerUnusableError):
                self.drop()  # none of the others would be answered

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    async def _judge(self, job: Job) -> None:
        """Ask about one item, and store what came of it, for it and for all with the identical input."""
        key = (job.prepared.hash, job.repetition)
        try:
            outcome = await self.asker.ask(job.prepared, job.repetition)
            served = served_by_answer(outcome.answer)
            self._answered_by_server |= served is not None
            if served is not None and not self.family.is_known(served):
                self._changed.append(served)  # what it said is paid for: it is stored, and no more is asked for a while
            await self._settle(job, outcome)
        finally:
            self._followers.pop(key, None)

    async def _settle(self, job: Job, outcome: Outcome, *, kept: bool = False) -> None:
        """Store a verdict, and those that follow it; `kept` when no call was made for it."""
        failed = served_by_answer(outcome.answer) is None
        judge = job.anchor if failed and job.anchor is not None else self.identity_of(outcome)
        await self._make_known(judge)
        judged = judged_of(job, outcome, judge.judge_id)
        self._remember((job.prepared.hash, job.repetition), judged.verdict)
        self._count(judged, kept=kept, anchor=job.anchor is not None)
        waiting = [self._store(judged)]
        for follower in self._followers.pop((job.prepared.hash, job.repetition), []):
            waiting.append(self._store(linked := linked_of(follower, judged.verdict, judged.call.prompt_hash)))
            self._count(linked, anchor=follower.anchor is not None)
        await asyncio.gather(*waiting)

    async def _make_known(self, judge: JudgeRecord) -> None:
        """The judge stands in the study before any verdict of it does."""
        if judge.judge_id not in self._known_judges:
            await asyncio.to_thread(add_judge, self.study, judge)
            self._known_judges.add(judge.judge_id)

    def _remember(self, key: tuple[str, int], verdict: VerdictRecord) -> None:
        """Keep the latest verdicts at hand: the study was asked for identical inputs before they were there."""
        if verdict.failure not in self.scope.again:
            self._recent[key] = verdict
        while len(self._recent) > _PAGE * self.scope.repeats + 4 * self.scope.concurrency:
            self._recent.popitem(last=False)

    def _count(self, judged: Judged, *, kept: bool = False, anchor: bool = False) -> None:
        verdict = judged.verdict
        self._count_calls()
        if anchor:
            self.state.anchors += 1
            return
        self.state.flagged += bool(judged.call.signs)
        self.state.silent += "no_rationale" in judged.call.remarks
        if verdict.failure:
            self.state.failures[verdict.failure] += 1
        elif kept:
            self.state.kept += 1
        elif verdict.route == SAME_INPUT:
            self.state.linked += 1
        elif verdict.route == "judged":
            self.state.judged += 1
        else:
            self.state.given += 1

    def _count_calls(self) -> None:
        """What this run has used: server and budget may be shared with earlier runs."""
        budget, (requests, tokens_in, tokens_out, spent, unsure) = self.asker.budget, self._earlier
        self.state.requests = self.asker.requests - requests
        self.state.tokens_in, self.state.tokens_out = budget.tokens_in - tokens_in, budget.tokens_out - tokens_out
        self.state.spent = budget.spent - spent if budget.price is not None else None
        self.state.unsure = budget.unsure - unsure

    # A server that changed

    async def _after_changes(self) -> bool:
        """Take up whatever the server became; False when the run ends here."""
        if not self._changed:
            return True
        await self._drain()
        self.state.note = "the server changed: judging the labelled anchors again"
        while self._changed and not self._stop.is_set():
            if not await self._after_change(self._changed[0]):
                return False
            self._changed.pop(0)
        self.state.note = ""
        return not self._stop.is_set()

    async def _after_change(self, served: Served) -> bool:
        """Split the judge, judge the labelled anchors anew, and go on under the new identity.

        False when the run ended before all anchors were judged: then the next run, when it meets this server, does it.
        """
        if self.family.is_known(served):
            return True
        record = self.family.record_of(served)
        before = [judge_id for judge_id in self.family.judge_ids if judge_id != record.judge_id]
        if self.family.too_many:
            raise ServerUnusableError(
                "The server calls itself something else again and again.", "What was judged is stored.",
                "Say --split-by model (or never) to count its fingerprints as one judge.",
            )  # fmt: skip
        await self._make_known(record)
        if not await self._judge_anchors(record, before):
            return False
        drift = compare_judges(self.study, self.scope.task, before, [record.judge_id])
        self.family.settle(record)
        self._changes.append((record.name, drift))
        if self._on_change is not None:
            self._refusal = self._refusal or await asyncio.to_thread(self._on_change, record, drift)
        if self._refusal is not None:
            self._stop.set()
        return True

    async def _take_up_anchors(self) -> None:
        """Go on with the anchors of a server that an earlier run met and then ended, though no item is left.

        Whether it is that server that answers now, the first anchor tells.
        """
        for served, record in self.family.unsettled:
            before = [judge_id for judge_id in self.family.judge_ids if judge_id != record.judge_id]
            jobs = await asyncio.to_thread(self._anchors, record, before)
            if not jobs:
                self._changed.append(served)
            elif not self._answered_by_server and await self._has_room(jobs[0].prepared.most):
                self._start(jobs[0])
                await self._drain()
            if not await self._after_changes():
                return

    async def _judge_anchors(self, record: JudgeRecord, before: Sequence[str]) -> bool:
        """Have `record` judge what it has not judged of the anchors, identical inputs once; False when that stopped."""
        jobs = await asyncio.to_thread(self._anchors, record, before)
        same = await asyncio.to_thread(self._known_inputs, jobs, [record.judge_id])
        for job in jobs:
            key = (job.prepared.hash, job.repetition)
            recent = self._recent.get(key)
            if known := same.get(key) or (recent if recent and recent.judge_id == record.judge_id else None):
                self._count(linked := linked_of(job, known, job.prepared.hash), anchor=True)
                await self._store_soon(linked)
            elif key in self._followers:
                self._followers[key].append(job)
            elif await self._has_room(job.prepared.most):
                self._followers[key] = []
                self._start(job)
            else:
                return False
        await self._drain()
        return not self._stop.is_set()

    def _anchors(self, record: JudgeRecord, before: Sequence[str]) -> list[Job]:
        items = list(get_items(self.study, anchors_of(self.study, self.scope.task, before)).values())
        slots = slots_of(self.study, items, [record.judge_id])
        jobs = self._prepare([item for item in items if self._is_open(slots.get((item.item_id, 0), []))], 0)
        return [job._replace(anchor=record) for job in jobs if job.prepared.given is None]

    # Storing

    def _store(self, judged: Judged) -> asyncio.Future[None]:
        """Queue a verdict; the future is done when it is safe."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stored.put_nowait((judged, future))
        return future

    async def _store_soon(self, judged: Judged) -> None:
        """Queue a verdict that nobody waits for, unless too many wait already."""
        stored = self._store(judged)
        if self._stored.qsize() >= _MOST_WAITING:
            await stored

    async def _write(self) -> None:
        """Store what came, all that waits in one transaction, until cancelled."""
        while True:
            batch = [await self._stored.get()]
            while not self._stored.empty() and len(batch) < _MOST_WAITING:
                batch.append(self._stored.get_nowait())
            try:
                pending = self._store_judged(self.study, self.run_id, [judged for judged, _ in batch])
                await asyncio.wrap_future(pending)
            except Exception as fault:
                self._fault = self._fault or fault
                self._stop.set()
            for _, future in batch:
                if not future.done():
                    future.set_result(None)
                self._stored.task_done()

    async def _drain(self) -> None:
        """Wait for the calls on their way."""
        while self._running:
            await asyncio.wait(self._running)

    # What there is to do

    @property
    def slots(self) -> int:
        """All slots of the scope."""
        return count_items(self.study, self.scope.task, self.scope.which) * self.scope.repeats

    def pages(self) -> Iterator[tuple[list[Job], Known]]:
        """What has no verdict yet, page by page, and what of it needs no call; for estimates and batch files.

        Inputs that are identical to one another are all there.
        """
        after = PageKey()
        while (found := self._page(after))[0]:
            last = found[0][-1]
            after = PageKey(last.system, last.position, last.item_id)
            yield found[1], self._known(found[1])

    def identity_of(self, outcome: Outcome) -> JudgeRecord:
        """The judge that an answer belongs to: the one asked for, or what its server has become."""
        served = served_by_answer(outcome.answer)
        return self.family.record_of(served) if served is not None else self.asker.judge

    async def _jobs(self) -> AsyncGenerator[Job, None]:
        """What has to be asked, page by page, the next page read while this one is asked."""
        after = PageKey()
        page = asyncio.create_task(asyncio.to_thread(self._page, after))
        try:
            while items := (await page)[0]:
                jobs = page.result()[1]
                last = items[-1]
                after = PageKey(last.system, last.position, last.item_id)
                await self._renew()
                page = asyncio.create_task(asyncio.to_thread(self._page, after))
                known = await asyncio.to_thread(self._known, jobs)
                for job in jobs:
                    if not await self._without_asking(job, known):
                        yield job
        finally:
            with contextlib.suppress(Exception):
                await page  # a thread cannot be cancelled, and the study may be closed next

    async def _renew(self) -> None:
        """Between two pages, when this run reads nothing; while somebody else reads, the next page tries again."""
        if self.state.done - self._renewed >= _RENEW and await asyncio.to_thread(self.study.renew):
            self._renewed = self.state.done

    def _page(self, after: PageKey) -> tuple[list[StoredItem], list[Job]]:
        scope = self.scope
        items = items_page(self.study, scope.task, scope.which, after, _PAGE)
        slots = slots_of(self.study, items, self.family.judge_ids) if items else {}
        jobs: list[Job] = []
        open_items = {
            item.item_id: [r for r in range(scope.repeats) if self._is_open(slots.get((item.item_id, r), []))]
            for item in items
        }
        wanted = [item for item in items if open_items[item.item_id]]
        for job in self._prepare(wanted, None):
            jobs += [job._replace(repetition=repetition) for repetition in open_items[job.item.item_id]]
        return items, jobs

    def _is_open(self, slots: Sequence[Slot]) -> bool:
        """Whether a slot has to be asked for: nothing there, or nothing but failures of the way."""
        return all(slot.label is None and slot.failure in self.scope.again for slot in slots)

    def _prepare(self, items: Sequence[StoredItem], repetition: int | None) -> list[Job]:
        """Jobs of items that can be judged; the others are counted as skipped."""
        fields = self.asker.text_fields
        hashes = {value for item in items for name, value in item.texts.items() if name in fields}
        texts = get_texts(self.study, hashes)
        jobs = []
        for item in items:
            own = {name: texts[value] for name, value in item.texts.items() if name in fields}
            try:
                if item.payload.get("missing_inputs"):
                    raise NoMenuError("what the judge has to see was not imported")
                jobs.append(Job(item, repetition or 0, self.asker.prepare(item, own)))
            except NoMenuError:
                self.state.skipped += self.scope.repeats
        return jobs

    def _known(self, jobs: Sequence[Job]) -> Known:
        same = self._known_inputs(jobs, self.family.judge_ids)
        return Known(same, self._answered(jobs, same))

    def _known_inputs(self, jobs: Sequence[Job], judge_ids: Sequence[str]) -> dict[tuple[str, int], VerdictRecord]:
        hashes = {job.prepared.hash for job in jobs if job.prepared.hash}
        return same_inputs(self.study, hashes, judge_ids) if hashes else {}

    def _answered(
        self, jobs: Sequence[Job], same: Mapping[tuple[str, int], VerdictRecord]
    ) -> dict[tuple[str, int], Outcome]:
        """What a search for a better prompt has paid for already."""
        if not isinstance(self.asker, Recalling):
            return {}
        asked = [
            (job.prepared, job.repetition)
            for job in jobs
            if job.prepared.given is None and (job.prepared.hash, job.repetition) not in same
        ]
        return self.asker.kept(self.study, asked) if asked else {}

    async def _without_asking(self, job: Job, known: Known) -> bool:
        """Settle what needs no call: given by a rule of the benchmark, or the same as what was asked before."""
        if job.prepared.given is not None:
            judged = judged_of(job, job.prepared.given, self.asker.judge.judge_id)
            self._count(judged)
            await self._store_soon(judged)
            return True
        key = (job.prepared.hash, job.repetition)
        if verdict := known.same.get(key) or self._recent.get(key):
            linked = linked_of(job, verdict, job.prepared.hash)
            self._count(linked)
            await self._store_soon(linked)
            return True
        if (found := known.kept.get(key)) is not None:
            await self._settle(job, found, kept=True)
            return True
        if key in self._followers:
            self._followers[key].append(job)
            return True
        self._followers[key] = []
        return False


def served_by_answer(answer: Answer | None) -> Served | None:
    """What answered; None when nothing did."""
    if answer is None or answer.failure:
        return None
    return Served(answer.model, answer.fingerprint)


def judged_of(job: Job, outcome: Outcome, judge_id: str) -> Judged:
    """The verdict and its call, as they are stored."""
    item, reading, answer = job.item, outcome.reading, outcome.answer
    verdict = VerdictRecord(
        item_id=item.item_id, content_hash=item.content_hash, judge_id=judge_id, label=reading.label,
        parts=reading.parts, failure=reading.failure, raw=outcome.raw, route=outcome.route,
        repetition=job.repetition, score=outcome.score, confidence=outcome.confidence,
        confidence_source=outcome.confidence_source, rationale=reading.rationale, position=item.position,
        model_returned=answer.model if answer else "", tokens_in=outcome.tokens_in, tokens_out=outcome.tokens_out,
        cost=outcome.cost,
    )  # fmt: skip
    call = Call(
        prompt_hash=job.prepared.hash, served_model=answer.model if answer else "",
        fingerprint=answer.fingerprint if answer else "", finish_reason=answer.finish_reason if answer else "",
        answer_format=answer.format if answer else "", language=job.prepared.language, attempts=outcome.attempts,
        latency_ms=round(answer.latency_s * 1000) if answer else None, why=reading.why, signs=job.prepared.signs,
        remarks=reading.remarks, samples=outcome.samples, at=_time(),
    )  # fmt: skip
    return Judged(verdict, call)


def linked_of(job: Job, verdict: VerdictRecord, prompt_hash: str) -> Judged:
    """The verdict of the identical input, as this item's own: nothing was called and nothing was paid for it."""
    own = replace(
        verdict, item_id=job.item.item_id, content_hash=job.item.content_hash, route=SAME_INPUT,
        position=job.item.position, tokens_in=None, tokens_out=None, cost=None,
    )  # fmt: skip
    call = Call(prompt_hash=prompt_hash, same_as=verdict.verdict_id, language=job.prepared.language,
                signs=job.prepared.signs, at=_time())  # fmt: skip
    return Judged(own, call)


def _time() -> str:
    return now().isoformat()
