"""`retune`: a better prompt for a judge, from people's labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from store.errors import EXIT_NO, UsageError

if TYPE_CHECKING:
    from annotate.tui.screens.retune.state import RetuneState
    from judges.backends.prices import Price
    from judges.benchmarks.benchmark import TaskDefinition
    from judges.retune.halt import Halt
    from judges.retune.retune import Plan, Result, Retune
    from judges.retune.study_log import SearchLog
    from judges.setup import JudgeOptions
    from store.study import Study

HELP = """Search for a better prompt for a task's judge, and take it only if the sealed test shows that it is better.

The labelled items are split once into train, val and a sealed test. Another model reads mistakes on train, with
people's notes, and proposes rules; val chooses; the test decides. Every answer is kept: the same command goes on where
it stopped.

In a terminal a screen shows the candidates, what each changed, fixed and broke on val, calls and money; --plain shows a
line of progress. --past looks at the searches of this study and calls nobody.

Example: overread retune --task qa --model gpt-4o-mini --reflect-model gpt-4o --max-cost 5
"""


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("retune", help=HELP)(retune)


def retune(
    context: typer.Context,
    task: Annotated[str, typer.Option("--task", help="Which task's judge.")] = "",
    model: Annotated[str, typer.Option("--model", help="The judge's model, as its server calls it.")] = "",
    reflect_model: Annotated[str, typer.Option("--reflect-model", help="The model that proposes rules.")] = "",
    base_url: Annotated[str, typer.Option("--base-url", help="Any OpenAI-compatible server; else OpenAI's.")] = "",
    reflect_url: Annotated[str, typer.Option("--reflect-url", help="The same for the other model.")] = "",
    proposals: Annotated[int, typer.Option("--proposals", min=1, help="How many prompts are asked for.")] = 10,
    minibatch: Annotated[int, typer.Option("--minibatch", min=2, help="Items each is first tried on.")] = 8,
    patience: Annotated[int, typer.Option("--patience", min=1, help="End after so many without a better one.")] = 6,
    examples: Annotated[int, typer.Option("--examples", min=0, help="Most worked examples to try; 0: none.")] = 4,
    edit: Annotated[bool, typer.Option("--edit", help="Edit the rubric yourself in $EDITOR; no other model.")] = False,
    language: Annotated[str, typer.Option("--language", help="With --edit: the rubric of this language.")] = "",
    split_column: Annotated[str, typer.Option("--split-column", help="The benchmark's own split: its slice.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many calls it takes at most.")] = False,
    max_cost: Annotated[float | None, typer.Option("--max-cost", min=0, help="Stop before dollars pass this.")] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=0, help="Most calls at a time; 8, or 2 of --gguf.")
    ] = 0,
    temperature: Annotated[float, typer.Option("--temperature", min=0, help="Of the judge.")] = 0.0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Longest answer of the judge.")] = 2048,
    key_env: Annotated[str, typer.Option("--key-env", help="The variable that holds the key.")] = "OPENAI_API_KEY",
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one call.")] = 120.0,
    prices: Annotated[Path | None, typer.Option("--prices", help="A price table, FILE.toml.")] = None,
    gguf: Annotated[Path | None, typer.Option("--gguf", help="The judge's file, served here; it proposes too.")] = None,
    room: Annotated[int, typer.Option("--context", min=512, help="For --gguf: tokens of prompt and answer.")] = 8192,
    threads: Annotated[int, typer.Option("--threads", min=0, help="For --gguf: of the processor; 0 for all.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of the split and of the search.")] = 0,
    past: Annotated[bool, typer.Option("--past", help="Look at the searches of this study; calls nobody.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="No screen: a line of progress.")] = False,
    annotator: Annotated[str, typer.Option("--annotator", envvar="OVERREAD_ANNOTATOR", help="Who looks.")] = "",
    role: Annotated[str, typer.Option("--as", help="lead: look although you still label; it is recorded.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """See HELP."""
    from annotate.cli.audit import asking
    from annotate.cli.judge import chosen_tasks, default_concurrency, local_model
    from annotate.cli.label import can_draw, has_terminal
    from annotate.cli.main import study_path
    from annotate.cli.output import print_json, say
    from annotate.cli.study import tell_notices
    from judges.retune.adapter import Settings
    from judges.retune.retune import Retune
    from judges.setup import JudgeOptions, judge_prompt, make_budget, require_name
    from store.study import Study

    on_screen = not plain and not as_json and not dry_run and has_terminal() and can_draw()
    if past:
        with Study.open(study_path(context)) as study:
            tell_notices(study)
            look_back(study, chosen_tasks(study, [task] if task else []), annotator, role, as_json, on_screen)
        return
    model, reflect_model = require_name("--model", model), require_name("--reflect-model", reflect_model)
    if not model and gguf is None:
        raise UsageError("Which model is the judge?", "", "overread retune --task qa --model gpt-4o-mini …")
    if not reflect_model and not edit and gguf is None:
        raise UsageError("Which model proposes rules?", "", "Say --reflect-model, or --edit to write them yourself.")
    options = JudgeOptions(
        model, base_url, key_env, temperature=temperature, max_tokens=max_tokens,
        concurrency=concurrency or default_concurrency(gguf), timeout_s=timeout, max_cost=max_cost, prices=prices,
    )  # fmt: skip
    reflect = JudgeOptions(
        reflect_model, reflect_url or base_url, key_env, temperature=1.0, seed=seed, max_tokens=8192, format="text",
        logprobs=False, timeout_s=max(timeout, 300.0), max_cost=max_cost, prices=prices,
    )  # fmt: skip
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        who = asking(study, annotator, role, "retune")[0] if on_screen else ""
        chosen = chosen_tasks(study, [task] if task else [])
        if len(chosen) > 1:
            names = ", ".join(one.task for one in chosen)
            raise UsageError(f"There are several tasks: {names}.", "", "Say --task NAME: each has a judge of its own.")
        if chosen[0].kind != "choice":
            raise UsageError(f"Task {chosen[0].task!r} has no labels to choose among.", "", "Only such can be retuned.")
        settings = Settings(proposals, minibatch, patience, examples, seed)
        found = Retune(
            study, chosen[0], judge_prompt(study, chosen[0]), settings, seed_of_split=seed, column=split_column
        )
        if dry_run:
            plan = found.plan()
            if as_json:
                print_json({"dry_run": plan.as_json()})
            for line in () if as_json else _plan_lines(plan, options.model or str(gguf), make_budget(options).price):
                say(line)
            return
        by_hand = edited(found.task, found.prompt.texts, language) if edit else None
        with local_model(gguf, options, room, threads) as served:
            own = reflect if reflect_model or gguf is None else same_server(reflect, served, room)
            work = Work(found, served, None if edit else own, by_hand)
            result = _on_screen(work, who) if on_screen else work.watched()
        if as_json:
            print_json(result.as_json())
        else:
            for line in result_lines(result):
                say(line)
    if not result.promoted:
        raise typer.Exit(EXIT_NO)


def same_server(reflect: JudgeOptions, served: JudgeOptions, room: int) -> JudgeOptions:
    """The judge's own model, served here, as the one that proposes.

    Half of its context is left for the question. A small model repeats a line until it is cut off, for minutes;
    llama.cpp can make long repetitions improbable ("DRY" sampling).
    """
    return replace(
        reflect, model=served.model, base_url=served.base_url, key_variable=served.key_variable,
        identity=served.identity, max_tokens=min(reflect.max_tokens, room // 2),
        extra={"dry_multiplier": 0.8},
    )  # fmt: skip


def _plan_lines(plan: Plan, model: str, price: Price | None) -> Iterator[str]:
    yield f"labelled items: train {plan.train}, val {plan.val}, sealed test {plan.test}"
    for part, counts in plan.labels.items():
        yield f"  {part}: " + ", ".join(f"{label} {count}" for label, count in counts.items())
    yield f"at most {plan.judge_calls:,} calls of the judge (about {plan.judge_tokens:,} tokens in)"
    yield f"at most {plan.reflections:,} calls of the reflecting model"
    if price is not None:
        out = plan.judge_calls * 150
        yield f"about ${price.of(plan.judge_tokens, out):,.2f} for the judge at most; nothing was called"
    else:
        yield f"Nobody knows what {model} costs; --prices FILE says it. Nothing was called."


class Work:
    """A search that is ready to run, in whichever thread."""

    def __init__(
        self,
        found: Retune,
        options: JudgeOptions,
        reflect: JudgeOptions | None,
        by_hand: Mapping[str, str] | None,
    ) -> None:
        """
        Raises:
            UsageError: there is a cap and no price.
        """
        from judges.retune.asking import one_purse
        from judges.setup import make_budget

        self.found, self.options, self.reflect, self._by_hand = found, options, reflect, by_hand
        self._budget = make_budget(options)
        self._theirs: Any = None
        if reflect is not None:
            self._budget, self._theirs = one_purse(self._budget, make_budget(reflect))

    def watched(self) -> Result:
        """Run it with a line of progress. Ctrl-C ends it: what is on its way is paid for, so it is waited for and kept;
        once more drops it."""
        from judges.retune.halt import Halt

        progress, halt = _Progress(), Halt()
        try:
            with _stopped_by_ctrl_c(halt):
                return self.run(progress.tell, halt)
        finally:
            progress.done()

    def run(self, told: Callable[[Retune], None] = lambda _: None, halt: Halt | None = None) -> Result:
        """Run it to its end, with an event loop of its own."""
        import asyncio

        with asyncio.Runner() as runner:
            backend = runner.run(_made(self.options))
            other: tuple[JudgeOptions, Any, Any] | None = None
            if self.reflect is not None:
                other = (self.reflect, runner.run(_made(self.reflect)), self._theirs)
            try:
                return self.found.run(
                    self.options, backend, self._budget, runner, other, by_hand=self._by_hand, told=told, halt=halt
                )
            finally:
                for one in (backend, *((other[1],) if other else ())):
                    runner.run(one.close())


_STDERR = 2


@contextmanager
def _stopped_by_ctrl_c(halt: Halt) -> Iterator[None]:
    """While inside, Ctrl-C asks the search to stop, and once more drops what is on its way."""
    import os
    import signal

    words = b"\noverread: stopping; the calls on their way are waited for and kept. Ctrl-C again drops them.\n"

    def asked(*_: object) -> None:
        if halt.is_asked:
            halt.drop()
            return
        halt.stop()
        with suppress(OSError):  # nobody hears it
            os.write(_STDERR, words)  # not by way of a buffer that may be in use right now

    old = signal.signal(signal.SIGINT, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, old)


def _on_screen(work: Work, who: str) -> Result:
    """Run it under the retune screen, as `who` may see it.

    Raises:
        OverreadError: what ended the search early.
        typer.Exit: a signal ended the screen.
    """
    from annotate.tui.retune_app import run_retune_app
    from judges.retune.halt import Halt

    halt = Halt()
    result, code = run_retune_app(*live_state(work, who, halt), halt)
    if code or result is None:
        raise typer.Exit(code)
    return result


def live_state(work: Work, who: str, halt: Halt) -> tuple[RetuneState, Callable[[], Result]]:
    """What the screen shows of a search, and the search itself, for another thread to run."""
    from annotate.desk.closed import hidden_from
    from annotate.tui.screens.retune.search import running_search
    from annotate.tui.screens.retune.state import RetuneState

    found, reflect = work.found, work.reflect
    plan = found.plan() if reflect is not None else None
    models = {"model": work.options.model, "reflect_model": reflect.model if reflect else ""}
    ends: list[Result] = []

    def run() -> Result:
        ends.append(work.run(halt=halt))
        return ends[0]

    state = RetuneState(
        found.study, found.task, {one.item_id: one for one in found.val}, hidden_from(found.study, who),
        live=lambda: running_search(found, plan, models, ends[0].as_json() if ends else {}),
    )  # fmt: skip
    return state, run


def look_back(
    study: Study, tasks: Sequence[TaskDefinition], annotator: str, role: str, as_json: bool, on_screen: bool
) -> None:
    """Show the searches of a study: on the screen, as text, or as JSON.

    Raises:
        UsageError: there are none, of more than one task, or the person is in the middle of a queue.
        typer.Exit: a signal ended the screen.
    """
    from annotate.cli.output import print_json, say
    from judges.retune.study_log import searches

    found = {task.task: logs for task in tasks if (logs := searches(study, task.task))}
    if not found:
        raise UsageError("There are no searches in this study yet.", "", "overread retune --help")
    if as_json:
        print_json({"searches": [asdict(log) for logs in found.values() for log in logs]})
    elif on_screen:
        if len(found) > 1:
            names = ", ".join(found)
            raise UsageError(f"There are searches of several tasks: {names}.", "", "Say which: --task NAME.")
        [task] = (task for task in tasks if task.task in found)
        _look_on_screen(study, task, found[task.task], annotator, role)
    else:
        for log in (log for logs in found.values() for log in logs):
            for line in _past_lines(log):
                say(line)


def _look_on_screen(study: Study, task: TaskDefinition, logs: Sequence[SearchLog], annotator: str, role: str) -> None:
    from annotate.cli.audit import asking
    from annotate.tui.retune_app import run_past_searches
    from annotate.tui.screens.retune.opening import past_state

    who, _ = asking(study, annotator, role, "retune")
    if code := run_past_searches(past_state(study, task, logs, who)):
        raise typer.Exit(code)


def _past_lines(log: SearchLog) -> Iterator[str]:
    from annotate.cli.output import table

    yield f"{log.task}, {log.at[:16]}, {log.settings.get('model', '')}"
    rows = [["candidate", "from", "by", "val"]]
    for one in log.candidates:
        parents = ", ".join(map(str, one["parents"]))
        rows.append([f"{one['number']}", parents, one["origin"], f"{one['val_score']:.3f}"])
    yield from table(rows)
    yield log.end.get("words", "not ended; the same command goes on where it stopped")


async def _made(options: JudgeOptions) -> Any:
    """A backend belongs to the loop it is made in."""
    from judges.setup import chat_backend

    return chat_backend(options)


class _Progress:
    """One line on standard error, on a terminal only."""

    def __init__(self) -> None:
        import sys
        import time

        self._stream, self._shown = sys.stderr, 0.0
        self._visible, self._clock = sys.stderr.isatty(), time.monotonic

    def tell(self, found: Retune) -> None:
        """Show how far the search is, at most twice a second."""
        if not self._visible or self._clock() - self._shown < 0.5:
            return
        self._shown = self._clock()
        tally = found.tally
        best = f", best on val {found.best.val_score:.3f}" if found.candidates else ""
        money = f", ${found.spent:.4f}" if found.spent is not None else ""
        cap = f" of ${found.cap:.2f}" if found.cap is not None else ""
        self._stream.write(
            f"\r\x1b[K{found.task.task}: {len(found.candidates)} candidates{best}, {tally.asked:,} calls,"
            f" {tally.kept:,} kept{money}{cap}"
        )
        self._stream.flush()

    def done(self) -> None:
        """Clear the line."""
        if self._visible and self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def result_lines(result: Result) -> Iterator[str]:
    """How a search ended."""
    from annotate.cli.output import table

    counts = result.counts
    yield f"{result.task}: train {counts['train']}, val {counts['val']}, sealed test {counts['test']} labelled items"
    rows = [["candidate", "from", "by", "val", "words"]]
    for one in result.candidates:
        words = sum(len(text.split()) for text in one.texts.values())
        parents = ", ".join(map(str, one.parents))
        rows.append([f"{one.number}", parents, one.origin, f"{one.val_score:.3f}", f"{words}"])
    yield from table(rows)
    if result.refused:
        reasons: dict[str, int] = {}
        for refusal in result.refused:
            reasons[refusal.why] = reasons.get(refusal.why, 0) + 1
        yield from (f"  {count} proposals thrown away: {why}" for why, count in reasons.items())
    if result.promotion is not None:
        yield from _promotion_lines(result)
    yield result.words
    if result.judge:
        yield f"  its verdicts so far are those of {result.judge}; next: overread judge --items labelled, overread gate"
    yield from (f"  note: {note}" for note in result.notes)
    spent = f", ${result.spent:,.4f}" if result.spent is not None else ""
    tally = result.tally
    calls = f"{tally.asked:,} of the judge ({tally.kept:,} kept from before), {tally.reflections:,} reflections"
    yield f"calls: {calls}{spent}"


def _promotion_lines(result: Result) -> Iterator[str]:
    from annotate.cli.output import table

    found = result.promotion
    assert found is not None
    low, high = found.difference.low, found.difference.high
    interval = f"{low:+.3f} to {high:+.3f}" if low is not None and high is not None else "no interval"
    yield "on the sealed test, balanced accuracy:"
    yield from table([
        ["", "before", "after", "difference", "95 % interval", "McNemar p"],
        ["", f"{found.before.value:.3f}", f"{found.after.value:.3f}", f"{found.difference.value:+.3f}", interval,
         f"{found.p_value:.4f}"],
    ])  # fmt: skip
    for what, counts in (("fixed", found.fixed), ("broke", found.broken)):
        said = ", ".join(f"{count} {label}" for label, count in counts.items()) or "none"
        yield f"  {what}: {said}"
    yield from (f"  {reason}" for reason in found.reasons)


def edited(task: TaskDefinition, texts: Mapping[str, str], language: str) -> dict[str, str]:
    """The rubric as a person leaves it in their editor.

    Raises:
        UsageError: no editor, no such language, or the text cannot take the place of the present one.
    """
    from annotate.editor import edited_text
    from judges.rubric_edit import require_edited

    chosen = language or next(iter(texts))
    if chosen not in texts:
        raise UsageError(f"There is no rubric in {chosen!r}.", "", f"There is: {', '.join(texts)}.")
    text = edited_text(texts[chosen], f"rubric.{chosen}.md")
    return {**texts, chosen: require_edited(text, texts[chosen], task)}
