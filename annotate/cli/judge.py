"""`judge`: run an LLM judge over items of the study, or compare two that ran."""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import typer

from store.errors import EXIT_NO, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from annotate.cli.full_run import FullRunGate
    from judges.backends.answer import AnswerFormat
    from judges.backends.ray_cluster import Cluster
    from judges.benchmarks.benchmark import TaskDefinition
    from judges.estimate import Estimate
    from judges.panel import PanelResult
    from judges.run import RunResult, RunState, Scope
    from judges.served import SplitBy
    from judges.setup import JudgeOptions
    from store.study import Study

HELP = """Judge items with a chat model and store every verdict with its words, tokens and cost. What was judged before
is never asked for again, so the same command goes on where it stopped.

Example: overread judge --model gpt-4o --items drawn --max-cost 5
"""

WHICH = ("drawn", "labelled", "all")
FORMATS = ("schema", "json", "text")
SPLITS = ("fingerprint", "model", "never")
ENGINES = ("local", "ray")


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command("judge", help=HELP)(judge)


def judge(
    context: typer.Context,
    model: Annotated[str, typer.Option("--model", help="The model, as its server calls it.")] = "",
    base_url: Annotated[str, typer.Option("--base-url", help="Any OpenAI-compatible server; else OpenAI's.")] = "",
    task: Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be repeated.")] = None,
    items: Annotated[str, typer.Option("--items", help="drawn, labelled or all; drawn if there is a draw.")] = "",
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Judge every item K times, to see its stability.")] = 1,
    samples: Annotated[
        int, typer.Option("--samples", min=1, help="K answers vote; their share is the confidence.")
    ] = 1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say calls, tokens and cost.")] = False,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, help="Stop before US dollars pass this.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=0, help="Most calls at a time (ray: a worker); 8, or 2 of --gguf.")
    ] = 0,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again where no verdict could be read.")
    ] = False,
    name: Annotated[str, typer.Option("--name", help="The judge's name; else the model's.")] = "",
    temperature: Annotated[float, typer.Option("--temperature", min=0, help="0 is the most stable.")] = 0.0,
    seed: Annotated[int, typer.Option("--seed", help="Sent with every call; repetitions count on from it.")] = 0,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=1, help="Longest answer, thinking included.")] = 2048,
    reasoning_effort: Annotated[str, typer.Option("--reasoning-effort", help="For reasoning models: low, high …")] = "",
    answer_format: Annotated[
        str, typer.Option("--format", help="schema, json or text; the server may have less.")
    ] = "schema",
    language: Annotated[str, typer.Option("--language", help="Of the rubric: auto follows the item.")] = "auto",
    key_env: Annotated[str, typer.Option("--key-env", help="The variable that holds the key.")] = "OPENAI_API_KEY",
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one call.")] = 120.0,
    prices: Annotated[Path | None, typer.Option("--prices", help="A price table, FILE.toml.")] = None,
    split_by: Annotated[str, typer.Option("--split-by", help="What makes a server another one.")] = "fingerprint",
    batch_out: Annotated[Path | None, typer.Option("--batch-out", help="Write the calls as a Batch file.")] = None,
    batch_in: Annotated[list[Path] | None, typer.Option("--batch-in", help="Read a batch's output or errors.")] = None,
    gguf: Annotated[Path | None, typer.Option("--gguf", help="A model's file, served here.")] = None,
    room: Annotated[int, typer.Option("--context", min=512, help="For --gguf: tokens of prompt and answer.")] = 8192,
    threads: Annotated[int, typer.Option("--threads", min=0, help="For --gguf: of the processor; 0 for all.")] = 0,
    rule: Annotated[str, typer.Option("--rule", help="A rule instead of a model: exact, contains, token_f1 …")] = "",
    right: Annotated[str, typer.Option("--right", help="The label of a rule's match.")] = "",
    wrong: Annotated[str, typer.Option("--wrong", help="The label of a rule's mismatch.")] = "",
    embedding: Annotated[bool, typer.Option("--embedding", help="The model embeds; for HalBench's stance.")] = False,
    panel: Annotated[list[str] | None, typer.Option("--panel", help="A panel of judges; name each.")] = None,
    drift: Annotated[str, typer.Option("--drift", help="Judge the labelled items; compare with this judge.")] = "",
    compare: Annotated[
        tuple[str, str] | None, typer.Option("--compare", help="Compare two judges; calls nobody.")
    ] = None,
    engine: Annotated[str, typer.Option("--engine", help="local, or ray: workers on many machines.")] = "local",
    ray_address: Annotated[str, typer.Option("--ray-address", help="HOST:PORT of a cluster; else a Ray here.")] = "",
    workers: Annotated[int, typer.Option("--workers", min=0, help="Of --engine ray; else one a processor.")] = 0,
    screen: Annotated[bool, typer.Option("--screen", help="Watch and stop the run on a screen.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Judge all through a gate that is not open.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """See HELP."""
    from annotate.cli.main import study_path
    from annotate.cli.study import tell_notices
    from judges.setup import JudgeOptions, require_name
    from store.heaps import share_heaps
    from store.study import Study

    model, name = require_name("--model", model), require_name("--name", name)
    for option, value, allowed in (
        ("--format", answer_format, FORMATS), ("--split-by", split_by, SPLITS), ("--engine", engine, ENGINES),
    ):  # fmt: skip
        if value not in allowed:
            raise UsageError(f"{option} {value} says nothing.", "", f"Say {', '.join(allowed)}.")
    if items and items not in WHICH:
        raise UsageError(f"--items {items} says nothing.", "", f"Say {', '.join(WHICH)}.")
    others = {"--gguf": gguf, "--rule": rule, "--embedding": embedding, "--panel": panel, "--compare": compare,
              "--batch-out": batch_out, "--batch-in": batch_in}  # fmt: skip
    require_engine(engine, ray_address, workers, [option for option, value in others.items() if value])
    share_heaps()
    with Study.open(study_path(context)) as study:
        tell_notices(study)
        take_in_lost_shards(study)
        chosen = chosen_tasks(study, task or [])
        if compare is not None:
            documents = comparison(study, chosen, *compare)
            _print(as_json, {"comparison": documents}, _compared_lines(documents))
            return
        if batch_in:
            read_batches(study, batch_in, prices, cast("SplitBy", split_by), as_json)
            return
        if panel:
            found = panels(study, chosen, panel, items, name)
            _print(as_json, {"panels": [one.as_json() for one in found]}, panel_lines(found))
            return
        if not model and not rule and gguf is None:
            raise UsageError("Which model is to judge?", "", "overread judge --model gpt-4o")
        if drift:
            name = name_beside(study, chosen, drift, name, model)
        at_a_time = concurrency or default_concurrency(gguf)
        options = JudgeOptions(
            model, base_url, key_env, name, temperature, seed, max_tokens, reasoning_effort,
            cast("AnswerFormat", answer_format), samples=samples, language=language, concurrency=at_a_time,
            timeout_s=timeout, max_cost=max_cost, prices=prices, split_by=cast("SplitBy", split_by),
        )  # fmt: skip
        scopes = make_scopes(study, chosen, "labelled" if drift else items, repeat, retry_failed, options)
        kind = Kind(rule, right, wrong, embedding)
        if dry_run:
            needs = estimates(study, chosen, scopes, options, kind, by_shards=engine == "ray")
            document = {"dry_run": [one.as_json() for one in needs], "price": price_document(options)}
            _print(as_json, document, estimate_lines(needs, options))
            return
        if batch_out is not None:
            through_the_gate(study, chosen, scopes, options, force, kind, anchors_first=False)
            write_batches(study, chosen, scopes, options, batch_out, as_json)
            return
        with local_model(gguf, options, room, threads) as served:
            gate = through_the_gate(study, chosen, scopes, served, force, kind)
            with cluster_of(engine, ray_address, workers) as cluster:
                results = run_judges(study, chosen, scopes, served, kind, cluster, screen=screen, gate=gate)
        documents = comparison(study, chosen, drift, results[0].judge) if drift and results else {}
        more: dict[str, Any] = {"drift": documents} if documents else {}
        lines = [line for result in results for line in result_lines(study, result)]
        _print(as_json, {"runs": [result.as_json() for result in results], **more, **gate.as_json()},
               [*lines, *gate.lines(), *_compared_lines(documents)])  # fmt: skip
        _leave(results)


def default_concurrency(gguf: Path | None) -> int:
    """Calls at a time where nobody says how many: a server takes more than a model on this machine."""
    return 8 if gguf is None else 2


@contextmanager
def local_model(gguf: Path | None, options: JudgeOptions, room: int, threads: int = 0) -> Iterator[JudgeOptions]:
    """The options with the address of a model that is served here while inside, if there is one."""
    if gguf is None:
        yield options
        return
    from dataclasses import replace

    from annotate.cli.output import note
    from judges.backends.gguf import KEY_VARIABLE, serving_gguf

    note(f"overread: loading {gguf.name} …")
    with serving_gguf(gguf, concurrency=options.concurrency, context=room, threads=threads) as model:
        yield replace(
            options, model=options.model or model.name, base_url=model.base_url, key_variable=KEY_VARIABLE,
            identity={"gguf_sha256": model.sha256[:16]},
        )  # fmt: skip


def require_engine(engine: str, address: str, workers: int, others: Sequence[str]) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: names them.
    """
    if engine == "ray" and others:
        raise UsageError(
            f"--engine ray is for chat models at a server, not for {others[0]}.",
            "",
            f"Leave out {others[0]} or --engine.",
        )
    if engine != "ray" and (address or workers):
        option = "--ray-address" if address else "--workers"
        raise UsageError(f"{option} is for --engine ray.", "", "Say --engine ray as well.")


@contextmanager
def cluster_of(engine: str, address: str, workers: int) -> Iterator[Cluster | None]:
    """The cluster while inside, if one is wanted."""
    if engine != "ray":
        yield None
        return
    from annotate.cli.output import note
    from judges.backends.ray_cluster import ray_cluster

    note(f"overread: {'connecting to' if address else 'starting'} Ray …")
    with ray_cluster(address, workers) as cluster:
        note(f"overread: {cluster.workers} workers.")
        yield cluster


def take_in_lost_shards(study: Study) -> None:
    """Take in what a run on a cluster wrote and could not take in before it was lost."""
    from annotate.cli.output import note
    from store.shards import take_in_shards

    found = take_in_shards(study)
    if found.shards:
        note(f"overread: {found.verdicts:,} verdicts taken in from {found.shards:,} shards that a lost run left.")


def _print(as_json: bool, document: dict[str, Any], lines: Sequence[str]) -> None:
    from annotate.cli.output import print_json, say

    if as_json:
        print_json(document)
        return
    for line in lines:
        say(line)


def _leave(results: Sequence[RunResult]) -> None:
    """With the exit code that the results call for."""
    if error := next((result.error for result in results if result.error), None):
        raise error
    outcomes = {result.outcome for result in results}
    if "stopped" in outcomes:
        raise KeyboardInterrupt
    if "cap" in outcomes:
        raise typer.Exit(EXIT_NO)


def chosen_tasks(study: Study, names: list[str]) -> list[TaskDefinition]:
    """The tasks with these names; else all that have items.

    Raises:
        UsageError: there is no such task, or nothing to judge.
    """
    from judges.collect import task_definitions
    from store.items import count_items

    definitions, counts = task_definitions(study), count_items(study)
    for name in names:
        if name not in definitions:
            raise UsageError(f"There is no task {name!r}.", "", f"There is: {', '.join(definitions)}.")
    chosen = [definitions[task] for task in definitions if counts.get(task) and (not names or task in names)]
    if not chosen:
        raise UsageError("There is nothing to judge.", "", "Import a run first: overread import FILE…")
    return chosen


def make_scopes(
    study: Study, tasks: Sequence[TaskDefinition], items: str, repeat: int, retry_failed: bool, options: JudgeOptions
) -> list[Scope]:
    """What the run of each task is about; without a word the drawn items, where there is a draw."""
    from annotate.cli.output import note
    from judges.run import ASK_AGAIN, Scope
    from judges.verdict_reader import FAILURES
    from store.draws import list_draws

    which = items or ("drawn" if list_draws(study) else "all")
    if not items:
        note(f"overread: judging {'the drawn items' if which == 'drawn' else 'all items'}; --items says otherwise.")
    again = FAILURES if retry_failed else ASK_AGAIN
    return [
        Scope(task.task, which, repeat, again, options.concurrency, options.split_by)  # type: ignore[arg-type]
        for task in tasks
    ]


class Kind(NamedTuple):
    """What judges: a rule by name, an embedding model, or, without a word, a chat model."""

    rule: str = ""
    right: str = ""
    wrong: str = ""
    embedding: bool = False


def through_the_gate(
    study: Study,
    tasks: Sequence[TaskDefinition],
    scopes: Sequence[Scope],
    options: JudgeOptions,
    force: bool,
    kind: Kind,
    *,
    anchors_first: bool = True,
) -> FullRunGate:
    """Ask the gate before everything is judged; without passages when only some items are.

    Raises:
        GateClosedError: it is not open for this judge, and nobody forces it.
    """
    from annotate.cli.full_run import FullRunGate
    from judges.gate.full_run import pass_gate
    from store.study import now

    whole = [task for task, scope in zip(tasks, scopes, strict=True) if scope.which == "all"]
    judges = [asker.judge for asker in _askers(study, whole, options, kind, None)] if whole else []
    passages = pass_gate(study, judges, force=force, at=now().isoformat(), anchors_first=anchors_first)
    return FullRunGate(study, force, passages)


def estimates(
    study: Study,
    tasks: Sequence[TaskDefinition],
    scopes: Sequence[Scope],
    options: JudgeOptions,
    kind: Kind,
    *,
    by_shards: bool = False,
) -> Sequence[Estimate]:
    """What the runs would need."""
    from judges.backends.ray_cluster import shard_size
    from judges.estimate import estimate
    from judges.run import JudgeRun

    askers = _askers(study, tasks, options, kind, None)
    in_shard = shard_size(options.concurrency) if by_shards else 0
    return [
        estimate(study, JudgeRun(study, asker, scope), options.samples, in_shard)
        for asker, scope in zip(askers, scopes, strict=True)
    ]


def estimate_lines(found: Sequence[Estimate], options: JudgeOptions) -> Sequence[str]:
    """The estimates as a table."""
    from annotate.cli.output import table

    rows = [
        ["", "slots", "judged", "same input", "kept", "no call", "calls", "tokens in", "tokens out", "cost", "at most"]
    ]
    for one in found:
        counts = (one.slots, one.before, one.linked, one.kept, one.given, one.calls, one.tokens_in, one.tokens_out)
        rows.append([one.task, *(f"{n:,}" for n in counts), _money(one.cost), _money(one.cost_at_most)])
    lines = [*table(rows)]
    if shards := sum(one.shards or 0 for one in found):
        lines.append(f"{shards:,} shards or a few more, each for one worker of the cluster.")
    if options.model:
        lines.append(price_words(options))
    if any(one.skipped for one in found):
        lines.append(
            f"{sum(one.skipped for one in found):,} slots cannot be judged: what the judge has to see is missing."
        )
    if any(one.flagged for one in found):
        lines.append(f"{sum(one.flagged for one in found):,} items look as if they tried to steer a judge.")
    lines.append("Tokens and cost are estimates; nothing was called.")
    return lines


def price_document(options: JudgeOptions) -> dict[str, Any] | None:
    """What the model costs, and who says so; None where nobody does."""
    from judges.backends.prices import load_prices

    table = load_prices(options.prices)
    price = table.price_of(options.model)
    if price is None:
        return None
    source, as_of = table.origin_of(options.model)
    return {"input": price.input, "output": price.output, "source": source, "as_of": as_of}


def price_words(options: JudgeOptions) -> str:
    """The same in a sentence."""
    from judges.backends.prices import user_file

    price = price_document(options)
    if price is None:
        return f"Nobody knows what {options.model} costs; {user_file()} or --prices FILE says it."
    when = f", as of {price['as_of']}" if price["as_of"] else ""
    return (
        f"${price['input']:g} in and ${price['output']:g} out for a million tokens of {options.model}:"
        f" {price['source']}{when}; {user_file()} or --prices FILE says otherwise."
    )


def _askers(
    study: Study, tasks: Sequence[TaskDefinition], options: JudgeOptions, kind: Kind, backend: Any
) -> Sequence[Any]:
    """One way of judging a task; `backend` None for one that calls nobody."""
    from judges.setup import make_askers, make_budget, make_embedding_asker, make_rule_asker

    if kind.rule:
        return [
            make_rule_asker(study, task, kind.rule, right=kind.right, wrong=kind.wrong, name=options.name)
            for task in tasks
        ]
    budget = make_budget(options)
    if kind.embedding:
        return [make_embedding_asker(study, task, options, backend, budget) for task in tasks]
    return make_askers(study, tasks, options, backend, budget)


def run_judges(
    study: Study,
    tasks: Sequence[TaskDefinition],
    scopes: Sequence[Scope],
    options: JudgeOptions,
    kind: Kind = Kind(),
    cluster: Cluster | None = None,
    *,
    screen: bool = False,
    gate: FullRunGate | None = None,
) -> Sequence[RunResult]:
    """Run the judge over task after task, with progress on standard error; Ctrl-C ends it in good order.

    With `screen` the judge screen shows the progress. With `cluster` its workers ask, and verdicts come by shards.
    `gate` is asked again where a judge or its server changed.

    Raises:
        typer.Exit: a signal ended the screen; its code is 128 and the signal's number.
    """
    import asyncio

    from annotate.cli.judge_progress import watched

    async def whole(watch: Any) -> list[RunResult]:
        backend = _backend(options, kind, cluster)
        try:
            askers = _askers(study, tasks, options, kind, backend)
            return await _one_by_one(study, askers, scopes, watch, cluster, gate)
        finally:
            if backend is not None:
                await backend.close()

    if screen:
        from annotate.cli.label import require_terminal
        from annotate.tui.screens.judge.screen import run_judge_app

        require_terminal("The judge screen", "Leave --screen out: it tells how far it is in a line.")
        results, code = run_judge_app(whole)
        if code:
            raise typer.Exit(code)
        return results
    return asyncio.run(whole(watched))


def _backend(options: JudgeOptions, kind: Kind, cluster: Cluster | None) -> Any:
    """Whom the judges ask; None for a rule."""
    from judges.setup import chat_backend, cluster_backend, embedding_backend

    if kind.rule:
        return None
    if cluster is not None:
        return cluster_backend(options, cluster)
    return embedding_backend(options) if kind.embedding else chat_backend(options)


async def _one_by_one(
    study: Study,
    askers: Sequence[Any],
    scopes: Sequence[Scope],
    watch: Any,
    cluster: Cluster | None,
    gate: FullRunGate | None,
) -> list[RunResult]:
    from dataclasses import replace

    from judges.run import JudgeRun
    from store.judging import write_judged
    from store.shards import ShardStore

    store = write_judged if cluster is None else ShardStore()
    if cluster is not None:
        scopes = [replace(scope, concurrency=scope.concurrency * cluster.workers) for scope in scopes]

    results: list[RunResult] = []
    for asker, scope in zip(askers, scopes, strict=True):
        first = await gate.anchors_first(asker, scope, watch) if gate is not None else None
        if first is not None:
            results.append(first)
            if first.outcome != "done" or first.error is not None:
                break
        run = JudgeRun(study, asker, scope, gate.on_change(scope) if gate is not None else None, store)
        results.append(await watch(run))
        if results[-1].outcome != "done":
            break
    return results


def result_lines(study: Study, result: RunResult) -> Sequence[str]:
    """How a run ended, in sentences."""
    from judges.verdict_reader import SERVER_ERROR, TIMEOUT
    from store.judging import flagged_items, judges_of_task

    state = result.state
    said = [f"{state.judged:,} judged"]
    said += [f"{state.kept:,} kept from a search"] if state.kept else []
    said += [f"{state.linked:,} taken over from identical inputs"] if state.linked else []
    said += [f"{state.anchors:,} labelled items judged again"] if state.anchors else []
    said += [f"{state.given:,} settled without a call"] if state.given else []
    said += [f"{state.before:,} were there before"] if state.before else []
    lines = [
        f"{result.task}, judged by {result.judge}: {', '.join(said)}; {state.requests:,} requests, {_spent(state)}"
    ]
    if state.failures:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(state.failures.items()))
        own = set(state.failures) <= {TIMEOUT, SERVER_ERROR}
        how = "the same command asks again" if own else "--retry-failed asks again"
        lines.append(f"  no verdict: {kinds} ({how})")
    if state.skipped:
        lines.append(f"  {state.skipped:,} cannot be judged: what the judge has to see was not imported")
    if state.silent:
        lines.append(f"  {state.silent:,} verdicts came without a reason")
    if state.flagged:
        ids = [judge_id for judge_id, judge in judges_of_task(study, result.task).items() if judge.name == result.judge]
        shown = flagged_items(study, ids, 5)
        lines.append(f"  {state.flagged:,} items look as if they tried to steer the judge; read them yourself:")
        lines += [f"    {key}  {signs}" for _, key, signs in shown]
    for name, found in result.changes:
        lines.append(f"  the server changed; its further verdicts are those of {name}: {found.words}")
    if result.outcome == "cap":
        lines.append(f"  stopped: the next call could pass --max-cost; {state.left:,} left")
    return lines


def _spent(state: RunState) -> str:
    from judges.backends.prices import unsure_words

    tokens = f"{state.tokens_in:,} tokens in, {state.tokens_out:,} out"
    return tokens if state.spent is None else f"{tokens}, {_money(state.spent)}{unsure_words(state.unsure)}"


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def panels(
    study: Study, tasks: Sequence[TaskDefinition], members: Sequence[str], items: str, name: str
) -> list[PanelResult]:
    """The panel's verdicts on every task that all its members judged.

    Raises:
        UsageError: there is no such task.
    """
    from judges.panel import run_panel
    from store.items import judges

    judged = [task for task in tasks if set(members) <= set(judges(study, task.task))] or list(tasks[:1])
    return [run_panel(study, task.task, members, items or "all", name) for task in judged]  # type: ignore[arg-type]


def panel_lines(found: Sequence[PanelResult]) -> list[str]:
    """What a panel came to, in sentences."""
    return [
        f"{one.task}, judged by {one.judge}: {one.decided:,} with a majority, divided on {one.divided:,}"
        + (f"; without a verdict of all members: {one.absent:,}" if one.absent else "")
        for one in found
    ]


# Batch files


def write_batches(
    study: Study,
    tasks: Sequence[TaskDefinition],
    scopes: Sequence[Scope],
    options: JudgeOptions,
    path: Path,
    as_json: bool,
) -> None:
    """Write the calls that the run would make as files for OpenAI's Batch API.

    Raises:
        UsageError: several samples are wanted, or a cap. NotWrittenError: the file cannot be written.
    """
    from annotate.cli.export import refuse_imported
    from judges.batch import write_batch
    from judges.run import JudgeRun
    from store.files import not_written

    refuse_imported(study, path)
    if path.exists() and not path.is_file():
        raise UsageError(f"{path} is no ordinary file.", "", "Choose another name.")
    if options.max_cost is not None:
        raise UsageError(
            "No cap can be kept once a batch is uploaded.", "", "Say --dry-run for its cost, and leave --max-cost out."
        )
    if options.samples > 1:
        raise UsageError("A batch takes one answer a call.", "", "Say --repeat K in place of --samples K.")
    askers = _askers(study, tasks, options, Kind(), None)
    runs = [JudgeRun(study, asker, scope) for asker, scope in zip(askers, scopes, strict=True)]
    try:
        out = write_batch(study, runs, path)
    except OSError as error:
        raise not_written(path, error) from error
    names = ", ".join(file.name for file in out.files) or "no file"
    lines = [f"{out.calls:,} calls written to {names}; {out.linked:,} items share one, {out.given:,} need none."]
    if out.calls:
        lines.append("Upload them as a batch; then: overread judge --batch-in OUTPUT.jsonl")
    _print(as_json, {"batch": out.as_json()}, lines)


def read_batches(study: Study, paths: Sequence[Path], prices: Path | None, split_by: SplitBy, as_json: bool) -> None:
    """Store the verdicts of a batch's output and error files.

    Raises:
        UsageError: there is no such file.
    """
    from annotate.cli.output import print_problems
    from annotate.cli.study import require_files
    from judges.backends.prices import Budget, load_prices
    from judges.batch import read_batch

    require_files(list(paths))
    table = load_prices(prices)
    found = [
        read_batch(study, path, lambda model: Budget(table.price_of(model), share=table.batch), split_by)
        for path in paths
    ]
    for one in found:
        print_problems(one.problems)
    lines = []
    for path, one in zip(paths, found, strict=True):
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(one.failures.items()))
        lines.append(
            f"{path.name}: {one.judged:,} judged, {one.linked:,} taken over from identical inputs, {one.same:,} known;"
            f" no verdict: {kinds or 'none'}; {one.unanswered:,} not answered, {one.stale:,} on items that changed;"
            f" {_money(one.cost)}"
        )
    others = {name: model for one in found for name, model in one.others.items()}
    _print(as_json, {"batches": [one.as_json() for one in found]}, [*lines, *_other_server_lines(others)])
    if any(one.problems for one in found):
        raise typer.Exit(EXIT_NO)


def _other_server_lines(others: Mapping[str, str]) -> list[str]:
    """What to run where a batch was answered by another server than the judge's first."""
    return [
        f"{name} is another server than before and counts as a judge of its own. Whether that matters is not known yet:"
        f" overread judge --model {shlex.quote(model)}, with the options of --batch-out, judges the labelled items with"
        " it again."
        for name, model in sorted(others.items())
    ]


# Comparing


def name_beside(study: Study, tasks: Sequence[TaskDefinition], before: str, name: str, model: str) -> str:
    """The name for the judge that is to be compared with `before`: a day's own where it would be the same one, which
    has its verdicts and would be asked nothing.

    Raises:
        UsageError: there is no judge `before`, or it bears the name that was asked for.
        NotEnoughError: nobody labelled an item.
    """
    from judges.drift import require_labels
    from store.study import now

    _require_judges(study, before)
    if name == before:
        raise UsageError("A judge is not compared with itself.", "", "Say another --name, or none.")
    require_labels(study, [task.task for task in tasks])
    usual = re.fullmatch(rf"{re.escape(model.rsplit('/', 1)[-1])}( \(\d+\))?", before)
    return name or (f"{before} on {now():%Y-%m-%d}" if usual else "")


def _require_judges(study: Study, *names: str) -> None:
    from store.items import judges

    known = judges(study)
    for name in names:
        if name not in known:
            raise UsageError(f"There is no judge {name!r}.", "", f"There is: {', '.join(known) or 'none yet'}.")


def comparison(study: Study, tasks: Sequence[TaskDefinition], before: str, after: str) -> dict[str, Any]:
    """Task → how two judges compare, for the tasks that both judged.

    Raises:
        UsageError: there is no judge of that name, or it is the same one.
    """
    from judges.drift import compare_judges
    from store.judging import judges_of_task

    _require_judges(study, before, after)
    if before == after:
        raise UsageError("A judge is not compared with itself.", "", "Name two: --compare A B")
    found: dict[str, Any] = {}
    for task in tasks:
        ids = {name: [i for i, judge in judges_of_task(study, task.task).items() if judge.name == name]
               for name in (before, after)}  # fmt: skip
        if all(ids.values()):
            found[task.task] = {"before": before, "after": after,
                                **compare_judges(study, task.task, ids[before], ids[after]).as_json()}  # fmt: skip
    return found


def _compared_lines(documents: dict[str, Any]) -> list[str]:
    return [f"{task}: {one['before']} and {one['after']}: {one['words']}" for task, one in documents.items()]
