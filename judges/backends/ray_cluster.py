"""A Ray cluster as a chat backend: shards of questions go to workers, each with a chat backend of its own.

Needs the extra `ray`. Which question is asked, what it may cost and what comes of its answer is decided where the study
is; a worker only asks. It takes the key from its own machine's environment, so that no key travels. A Ray that is
started here listens on loopback alone, behind a token of its own, and reports nothing to anybody.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import shutil
import site
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any, NamedTuple

from judges.backends.answer import Answer, ModelSettings, Question, ServerUnusableError
from judges.backends.chat import ChatBackend, Transport
from judges.verdict_reader import SERVER_ERROR
from store.errors import OverreadError, UsageError
from store.files import private_umask

try:
    import fcntl
except ImportError:  # not on Windows, where a killed run's folder stays
    fcntl = None  # type: ignore[assignment]

MOST_IN_SHARD = 32
"""Questions of a shard; fewer where a worker asks fewer at a time."""
_MOST_LOST = 3
"""So many workers may be lost over a shard before it is left: a machine with several goes down as one."""
_LINGER_S = 0.01
"""How long a shard waits to become full."""
_READY_S, _REACHED_S = 60.0, 10.0
_OBJECT_STORE_BYTES = 100 * 2**20
_MOST_LOCAL_WORKERS = 16


def shard_size(concurrency: int) -> int:
    """Questions of a full shard, where a worker asks `concurrency` at a time."""
    return max(1, min(MOST_IN_SHARD, concurrency))


def _version() -> str:
    """Of overread on this machine."""
    try:
        return version("overread")
    except PackageNotFoundError:  # run from its source tree
        return "not installed"


# On the cluster's machines


class Post(NamedTuple):
    """What a worker needs to know, the key's name and never the key."""

    settings: ModelSettings
    base_url: str
    key_variable: str
    concurrency: int
    transport: Transport


class Unusable(NamedTuple):
    """A `ServerUnusableError` on its way: exceptions lose their parts, and Ray would log them."""

    title: str
    detail: str
    hint: str


class Reply(NamedTuple):
    """What came of a shard, question by question, and the requests that the worker has sent so far."""

    answers: list[Answer | Unusable]
    requests: int


class Worker:
    """Asks on one machine of the cluster."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._backend: ChatBackend | None = None

    async def start(self) -> str | Unusable:
        """Make ready; the version of overread here."""
        post = self._post
        try:
            self._backend = ChatBackend(
                post.settings, base_url=post.base_url, key_variable=post.key_variable,
                concurrency=post.concurrency, transport=post.transport,
            )  # fmt: skip
        except ServerUnusableError as error:
            return Unusable(error.title, error.detail, error.hint)
        return _version()

    async def ask(self, questions: Sequence[Question]) -> Reply:
        """Ask all of a shard."""
        assert self._backend is not None
        answers = await asyncio.gather(*(self._one(self._backend, question) for question in questions))
        return Reply(list(answers), self._backend.requests)

    async def close(self) -> None:
        """Close its connections."""
        if self._backend is not None:
            await self._backend.close()

    async def _one(self, backend: ChatBackend, question: Question) -> Answer | Unusable:
        try:
            return await backend.ask(question)
        except ServerUnusableError as error:
            return Unusable(error.title, error.detail, error.hint)
        except Exception as error:  # its words could hold the item's text, and Ray would log them
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
            return Unusable("A worker failed unexpectedly.", where, "Report this to overread's developers.")


# Where the study is


@contextlib.contextmanager
def ray_cluster(address: str = "", workers: int = 0) -> Iterator[Cluster]:
    """A cluster while inside: the one at `address`, else a Ray of this machine's own that ends with the block.

    Args:
        workers: 0 for one a processor.

    Raises:
        UsageError: the extra is not installed. OverreadError: the cluster cannot be had.
    """
    with (
        contextlib.redirect_stdout(sys.stderr),  # where Ray says what became of a worker: our output is for programs
        _variables({"RAY_USAGE_STATS_ENABLED": "0"}),
        _started(address, workers) as ray,
    ):
        try:
            processors = int(ray.cluster_resources().get("CPU", 1))
            yield Cluster(ray, workers or max(1, processors))
        finally:
            ray.shutdown()


@dataclass
class Cluster:
    """A cluster that is there. `workers` ask on it."""

    ray: Any
    workers: int

    def backend(self, post: Post) -> RayBackend:
        """The workers as one backend, for as long as it is not closed."""
        return RayBackend(self, post)


@contextlib.contextmanager
def _started(address: str, workers: int) -> Iterator[Any]:
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address:
        ray = _imported()
        _require_reachable(address)
        with _told(f"Ray at {address} cannot be used.", _ADDRESS_HINT):
            ray.init(address=address, **quiet)
        yield ray
        return
    count = workers or min(_MOST_LOCAL_WORKERS, os.cpu_count() or 1)
    with _private_folder() as folder, _variables(_LOOPBACK):
        ray = _imported()
        # Ray looks up its machine's cloud provider over the network unless this file, which it seeks in the home, says.
        (folder / "ray_bootstrap_config.yaml").write_text("provider: {type: local}\n", encoding="utf-8")
        home = {"HOME": str(folder), "USERPROFILE": str(folder), "PYTHONUSERBASE": site.getuserbase()}
        with _told("Ray did not start on this machine.", "Try again, or use --engine local."), _variables(home):
            ray.init(
                address="local", num_cpus=count, include_dashboard=False, _temp_dir=str(folder / "r"),
                object_store_memory=_OBJECT_STORE_BYTES, **quiet,
            )  # fmt: skip
        yield ray


def _require_reachable(address: str) -> None:
    """Find out at once what Ray would take minutes to give up on.

    Raises:
        UsageError: this is no address, or nobody answers there.
    """
    if address == "auto":
        return
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f"{address!r} is no address of a cluster.", "", _ADDRESS_HINT)
    try:
        socket.create_connection((host, int(port)), timeout=_REACHED_S).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"Nobody answers at {address}.", str(error), _ADDRESS_HINT) from error


def _imported() -> Any:
    """The library, which reads its variables when it is imported."""
    try:
        import ray
    except ImportError as error:
        raise UsageError(
            "--engine ray needs the extra `ray`.", str(error), "pip install 'overread[ray]', or pip install ray"
        ) from error
    return ray


_LOOPBACK: Mapping[str, str] = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # no cluster, on any system: nothing but 127.0.0.1
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
}
"""Variables of a Ray for this machine alone: no other address, and nobody else on the machine gets in."""


_ADDRESS_HINT = (
    "Check --ray-address: HOST:PORT as `ray start --head` says, and that Ray's token (~/.ray/auth_token) is the same "
    "on every machine. Leave it out for a Ray of your own."
)
_MACHINES_HINT = "overread has to be installed on every machine of the cluster, in this version."


@contextlib.contextmanager
def _told(title: str, hint: str) -> Iterator[None]:
    """Turn what Ray says when it does not come up into an error of ours."""
    try:
        yield
    except (OverreadError, TimeoutError):
        raise
    except Exception as error:  # Ray raises plain exceptions of many kinds
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise OverreadError(title, lines[0][:300], hint) from error


@contextlib.contextmanager
def _private_folder() -> Iterator[Path]:
    """A folder for Ray's files, of its owner alone; short, since sockets in it have a longest name."""
    place = Path("/tmp" if os.name == "posix" else tempfile.gettempdir())
    remove_left_behind(place)
    with private_umask():
        folder = Path(tempfile.mkdtemp(prefix=_FOLDER, dir=place))
        lock = _locked(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


_FOLDER, _LOCK = "or-", "lock"


def _locked(folder: Path) -> IO[bytes]:
    """A lock in the folder that falls with this process, whatever ends it; the name appears once it is held."""
    lock = (folder / f"{_LOCK}.new").open("wb")
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / f"{_LOCK}.new").rename(folder / _LOCK)
    return lock


def remove_left_behind(place: Path) -> None:
    """Remove the folders of this user's runs that were killed: their lock is there, and nobody holds it."""
    if fcntl is None:
        return
    for folder in place.glob(f"{_FOLDER}*"):
        with contextlib.suppress(OSError):  # another user's, another program's, or held
            if folder.is_symlink() or folder.lstat().st_uid != os.getuid():
                continue
            with (folder / _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _variables(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables while inside; the processes that start meanwhile have them too."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@dataclass(eq=False)
class _Hand:
    """A worker as seen from here: how many questions it has, and how many requests it sent."""

    actor: Any
    out: int = 0
    requests: int = 0


class _Asked(NamedTuple):
    """A question, who waits for its answer, and whether it may be asked again though it may be paid for already."""

    question: Question
    answer: asyncio.Future[Answer]
    pay: Callable[[], bool]


@dataclass
class _Waiting:
    """Questions that are not in a shard yet."""

    questions: list[_Asked] = field(default_factory=list)
    timer: asyncio.TimerHandle | None = None


class RayBackend:
    """Workers of a cluster as one chat backend: collects questions to shards, and gives each to the idlest worker."""

    def __init__(self, cluster: Cluster, post: Post) -> None:
        self._ray, self._post, self._count = cluster.ray, post, cluster.workers
        self._size = shard_size(post.concurrency)
        self._hands: list[_Hand] = []
        self._lost_requests = 0
        self._ready: asyncio.Future[None] | None = None
        self._waiting = _Waiting()
        self._sent: set[asyncio.Task[None]] = set()

    @property
    def requests(self) -> int:
        """Requests that workers have told of, retries included."""
        return self._lost_requests + sum(hand.requests for hand in self._hands)

    async def ask(self, question: Question, pay: Callable[[], bool] = lambda: True) -> Answer:
        """Have a worker ask; see `ChatBackend.ask`. `pay` is asked again when a worker is lost; a worker itself cannot
        ask, and goes by `Transport.resend`.

        Raises:
            ServerUnusableError: the server cannot be used, or no worker is left. OverreadError: no worker came up.
        """
        if self._ready is None:
            self._ready = asyncio.ensure_future(self._start())
        await asyncio.shield(self._ready)
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        pay()
        self._waiting.questions.append(_Asked(question, future, pay))
        if len(self._waiting.questions) >= self._size:
            self._flush()
        elif self._waiting.timer is None:
            self._waiting.timer = asyncio.get_running_loop().call_later(_LINGER_S, self._flush)
        return await future

    async def close(self) -> None:
        """Let the workers go, whatever they are at."""
        for hand in self._hands:
            self._ray.kill(hand.actor)
        if self._sent:
            await asyncio.wait(self._sent)
        self._hands.clear()

    async def _start(self) -> None:
        kind = self._ray.remote(Worker).options(num_cpus=1, scheduling_strategy="SPREAD", max_concurrency=1000)
        self._hands = [_Hand(kind.remote(self._post)) for _ in range(self._count)]
        started = [asyncio.ensure_future(_reply(hand.actor.start.remote())) for hand in self._hands]
        try:
            with _told("The cluster's workers do not start.", _MACHINES_HINT):
                said = await asyncio.wait_for(asyncio.gather(*started), _READY_S)
        except TimeoutError as error:
            raise OverreadError(
                f"The cluster has no room for {self._count} workers.", f"They did not start within {_READY_S:g} s.",
                "Say fewer: --workers N, or wait until it is free.",
            ) from error  # fmt: skip
        for one in said:
            if isinstance(one, Unusable):
                raise ServerUnusableError(one.title, one.detail, f"{one.hint}   (each machine takes its own key)")
            if one != _version():
                raise OverreadError(
                    "The cluster's machines have another overread.", f"{one} there, {_version()} here.",
                    _MACHINES_HINT,
                )  # fmt: skip

    def _flush(self) -> None:
        """Send what waits."""
        questions, timer = self._waiting.questions, self._waiting.timer
        self._waiting = _Waiting()
        if timer is not None:
            timer.cancel()
        wanted = [one for one in questions if not one.answer.done()]
        if wanted:
            task = asyncio.ensure_future(self._send(wanted))
            self._sent.add(task)
            task.add_done_callback(self._sent.discard)

    async def _send(self, shard: Sequence[_Asked], lost: int = 0) -> None:
        """Have the idlest worker ask a shard, and hand the answers out. What a lost one had goes to another, as far as
        the cap allows: what it had paid for by then is paid again."""
        if not self._hands:
            return _hand_out(shard, [_NOBODY_LEFT] * len(shard))
        hand = min(self._hands, key=lambda one: one.out)
        hand.out += len(shard)
        try:
            reply: Reply = await _reply(hand.actor.ask.remote([one.question for one in shard]))
        except self._ray.exceptions.RayError as error:
            self._lose(hand)
            lost += 1
            waiting = [one for one in shard if not one.answer.done()]
            more = [one for one in waiting if lost < _MOST_LOST and one.pay()]
            words = "a worker" if lost == 1 else f"{lost} workers"
            failed = Answer(
                failure=SERVER_ERROR, why=f"{words} of the cluster lost ({type(error).__name__})", lost=lost
            )
            left = [one for one in waiting if one not in more]
            _hand_out(left, [failed] * len(left))
            return await self._send(more, lost) if more else None
        except Exception as error:  # nobody may wait for ever
            return _hand_out(shard, [error] * len(shard))
        hand.out -= len(shard)
        hand.requests = max(hand.requests, reply.requests)
        answers = [replace(one, lost=one.lost + lost) if isinstance(one, Answer) else one for one in reply.answers]
        return _hand_out(shard, answers)

    def _lose(self, hand: _Hand) -> None:
        if hand in self._hands:
            self._hands.remove(hand)
            self._lost_requests += hand.requests


_NOBODY_LEFT = Unusable(
    "No worker of the cluster is left.", "What was judged is stored, and nothing else was counted as failed.",
    "Look after the cluster, then run the same command: it goes on where it stopped.",
)  # fmt: skip


async def _reply(reference: Any) -> Any:
    """What a worker said."""
    return await reference


def _hand_out(shard: Sequence[_Asked], answers: Sequence[Answer | Unusable | Exception]) -> None:
    """Each asker gets its answer, or the error that ends the run; whoever was dropped meanwhile gets none."""
    for (_, future, _), answer in zip(shard, answers, strict=True):
        if future.done():
            continue
        if isinstance(answer, Unusable):
            future.set_exception(ServerUnusableError(*answer))
        elif isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
