"""From what the user asked for to judges that can run: rubrics from the study, identities, prices, backends."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judges.asking import SAMPLE_TEMPERATURE, Backend, ChatAsker
from judges.backends.answer import MOST_NAME, AnswerFormat, ModelSettings
from judges.backends.prices import Budget, load_prices, user_file
from judges.backends.rules import make_rule
from judges.benchmarks.benchmark import TaskDefinition, get_benchmark
from judges.rubric import JudgedBenchmark, JudgePrompt, ShortcutBenchmark, rubric_of
from judges.rule_asker import EmbeddedBenchmark, Embedder, EmbeddingAsker, RuleAsker
from judges.served import SplitBy, free_name
from store.errors import UsageError
from store.items import facts_of
from store.judge_rubrics import StoredRubric, add_rubric, current_rubric
from store.judging import judges_of_task
from store.records import JudgeRecord
from store.study import Study, now

if TYPE_CHECKING:
    from judges.backends.ray_cluster import Cluster


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What the user chose. `name` "" takes the model's; the rest is as in `ModelSettings` and `Transport`."""

    model: str
    base_url: str = ""
    key_variable: str = "OPENAI_API_KEY"
    name: str = ""
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = 2048
    reasoning_effort: str = ""
    format: AnswerFormat = "schema"
    logprobs: bool = True
    samples: int = 1
    language: str = "auto"
    concurrency: int = 8
    timeout_s: float = 120.0
    retries: int = 5
    backoff_s: float = 0.5
    max_cost: float | None = None
    prices: Path | None = None
    split_by: SplitBy = "fingerprint"
    extra: Mapping[str, Any] = field(default_factory=dict)
    identity: Mapping[str, Any] = field(default_factory=dict)
    """What else makes the judge what it is and is not sent (the hash of a model's file)."""

    @property
    def settings(self) -> ModelSettings:
        return ModelSettings(
            self.model, self.temperature, self.seed, self.max_tokens, self.reasoning_effort, self.format,
            self.logprobs, self.extra,
        )  # fmt: skip

    @property
    def parameters(self) -> dict[str, Any]:
        """What makes a judge of this model another one: what is sent, and the file a local model comes from."""
        return {**self.settings.as_json(), **self.identity}


def require_name(option: str, name: str) -> str:
    """A model's or judge's name as the user gave it, without blanks around it; "" where none was given.

    Raises:
        UsageError: it is blank, too long, or holds what no name holds.
    """
    own = name.strip()
    if not name:
        return ""
    if not own or not own.isprintable():
        raise UsageError(f"{option} is blank, or holds characters that no name has.", "", "As in: gpt-4o")
    if len(own) > MOST_NAME:
        raise UsageError(
            f"{option} is too long: {len(own):,} characters.", "", f"A name has {MOST_NAME} of them at most."
        )
    return own


def study_rubric(study: Study, task: TaskDefinition) -> StoredRubric:
    """The task's rubric for judges as the study has it; at first the benchmark's own, kept from then on.

    A rubric made of a task's own words (a table's) follows the task until somebody edits it.
    """
    benchmark = get_benchmark(study.benchmark)
    declared = isinstance(benchmark, JudgedBenchmark) and task.task in benchmark.judge_rubrics()
    stored = current_rubric(study, task.task)
    if stored is not None and (declared or stored.origin != "benchmark"):
        return stored
    return add_rubric(study, task.task, rubric_of(benchmark, task).texts, "benchmark", now().isoformat())


def judge_prompt(study: Study, task: TaskDefinition, language: str = "auto") -> JudgePrompt:
    """The prompt that a judge of this study gets for a task.

    Raises:
        UsageError: its rubric is not there in that language.
    """
    texts = study_rubric(study, task).texts
    if language not in ("auto", *texts):
        raise UsageError(f"There is no rubric of {task.task} in {language!r}.", "", f"There is: {', '.join(texts)}.")
    return JudgePrompt(task, texts, rubric_of(get_benchmark(study.benchmark), task).also_sees, language)


def make_budget(options: JudgeOptions, share: float | None = None) -> Budget:
    """Counts what calls of this model cost; `share` "batch" prices come from the table.

    Raises:
        UsageError: there is a cap and no price.
    """
    table = load_prices(options.prices)
    price = table.price_of(options.model)
    if price is None and options.max_cost is not None:
        raise UsageError(
            f"Nobody knows what {options.model!r} costs, so no --max-cost can be kept.", "",
            f"Put it into {user_file()}, or a file for --prices, in dollars for a million tokens, under [models]:\n"
            f"{json.dumps(options.model, ensure_ascii=False)} = {{ input = 1.0, output = 2.0 }}",
        )  # fmt: skip
    return Budget(price, options.max_cost, 1.0 if share is None else share)


def make_askers(
    study: Study, tasks: Sequence[TaskDefinition], options: JudgeOptions, backend: Backend | None, budget: Budget
) -> list[ChatAsker]:
    """One chat judge a task, all under one name that no other judge of this study bears."""
    prompts = [judge_prompt(study, task, options.language) for task in tasks]
    parameters = options.parameters
    if options.samples > 1:
        warm = {"sample_temperature": SAMPLE_TEMPERATURE} if options.temperature == 0 else {}
        parameters = {**parameters, "samples": options.samples, **warm}
    wanted = options.name or options.model.rsplit("/", 1)[-1]
    records = [JudgeRecord(prompt.task.task, wanted, options.model, prompt.version, parameters) for prompt in prompts]
    known = [judge for task in tasks for judge in judges_of_task(study, task.task).values()]
    name = free_name(wanted, records, known)
    benchmark = get_benchmark(study.benchmark)
    shortcuts = benchmark.without_asking if isinstance(benchmark, ShortcutBenchmark) else None
    return [
        ChatAsker(prompt, options.settings, backend, budget, judge=replace(record, name=name),
                  samples=options.samples, shortcuts=shortcuts)
        for prompt, record in zip(prompts, records, strict=True)
    ]  # fmt: skip


def make_rule_asker(study: Study, task: TaskDefinition, rule: str, *, right: str, wrong: str, name: str) -> RuleAsker:
    """A rule as a judge of a task.

    Raises:
        UsageError: the task has no such rule.
    """
    return RuleAsker(task.task, make_rule(get_benchmark(study.benchmark), task, rule, right=right, wrong=wrong), name)


def make_embedding_asker(
    study: Study, task: TaskDefinition, options: JudgeOptions, backend: Embedder | None, budget: Budget
) -> EmbeddingAsker:
    """An embedding model as a judge of a task.

    Raises:
        UsageError: the benchmark has no embedding judge of it.
    """
    benchmark = get_benchmark(study.benchmark)
    if not isinstance(benchmark, EmbeddedBenchmark) or task.task not in benchmark.embedded_tasks:
        raise UsageError(f"No embedding judges {task.task}.", "", "It judges HalBench's stance: --task stance.")
    wanted = options.name or options.model.rsplit("/", 1)[-1]
    record = JudgeRecord(task.task, wanted, options.model, parameters={"embedding": True})
    known = judges_of_task(study, task.task).values()
    judge = replace(record, name=free_name(wanted, [record], known))
    facts: dict[str, dict[str, Any]] = {}
    for system in study.rows("SELECT DISTINCT system FROM facts ORDER BY system"):
        facts |= facts_of(study, system[0])
    return EmbeddingAsker(benchmark, backend, budget, judge, facts)


def embedding_backend(options: JudgeOptions) -> Embedder:
    """The embedding server that the user named.

    Raises:
        ServerUnusableError: no key, and no server of the user's own.
    """
    from judges.backends.chat import Transport
    from judges.backends.embedding import EmbeddingBackend

    return EmbeddingBackend(
        options.model, base_url=options.base_url, key_variable=options.key_variable,
        concurrency=options.concurrency, transport=Transport(options.timeout_s, options.retries, options.backoff_s),
    )  # fmt: skip


def cluster_backend(options: JudgeOptions, cluster: Cluster) -> Backend:
    """The same server, asked by the workers of a cluster; `options.concurrency` is that of each worker."""
    from judges.backends.chat import Transport
    from judges.backends.ray_cluster import Post

    url = options.base_url or os.environ.get("OPENAI_BASE_URL", "")
    transport = Transport(options.timeout_s, options.retries, options.backoff_s, resend=options.max_cost is None)
    return cluster.backend(Post(options.settings, url, options.key_variable, options.concurrency, transport))


def chat_backend(options: JudgeOptions) -> Backend:
    """The server that the user named.

    Raises:
        ServerUnusableError: no key, and no server of the user's own.
    """
    from judges.backends.chat import ChatBackend, Transport

    return ChatBackend(
        options.settings, base_url=options.base_url, key_variable=options.key_variable,
        concurrency=options.concurrency, transport=Transport(options.timeout_s, options.retries, options.backoff_s),
    )  # fmt: skip
