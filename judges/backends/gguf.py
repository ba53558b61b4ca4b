"""A language model from a GGUF file, served in this process as an OpenAI-compatible server on loopback.

Needs the extra `local` (xllamacpp, which is llama.cpp). Nothing is downloaded and nothing leaves the machine; the
server takes only calls with a key that exists for this one run.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from store.errors import UsageError
from store.files import sha256_of

KEY_VARIABLE = "OVERREAD_LOCAL_KEY"
"""Set in this process alone, for as long as the server runs."""

MAGIC = b"GGUF"
DEFAULT_CONTEXT = 8192
"""Tokens of a prompt and its answer together, for each call on its way."""
_BATCH = 512
"""Tokens of a prompt that are read at a time. A call that was dropped ends between two batches, and the server cannot
be left before: with llama.cpp's own 2048 a long prompt holds up Ctrl-C for minutes on a slow machine."""
_QUIET = 1
"""llama.cpp's verbosity: errors only."""


class LocalModel(NamedTuple):
    """A model that is being served. `sha256` is that of its file: part of the judge's identity."""

    name: str
    base_url: str
    sha256: str


@contextlib.contextmanager
def serving_gguf(
    path: Path, *, concurrency: int, context: int = DEFAULT_CONTEXT, threads: int = 0
) -> Iterator[LocalModel]:
    """Serve the model while inside.

    Args:
        concurrency: calls that are answered at a time. threads: of the processor; 0 for all this process may use.

    Raises:
        UsageError: there is no such file, it is no GGUF file or cannot be loaded, or the extra is not installed.
    """
    _require_gguf(path)
    try:
        import xllamacpp
    except ImportError as error:
        raise UsageError(
            "A GGUF file needs the extra `local`.",
            str(error),
            "pip install 'overread[local]', or pip install xllamacpp",
        ) from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.model_alias = {path.stem}
    parameters.n_parallel, parameters.n_ctx = concurrency, concurrency * context
    parameters.n_batch = _BATCH
    parameters.port, parameters.verbosity = 0, _QUIET
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads or _usable_cores()
    key = secrets.token_urlsafe(32)
    parameters.api_keys = [key]
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise UsageError(
            f"{path.name} cannot be loaded.", str(error), "Try another file or a smaller model."
        ) from error
    os.environ[KEY_VARIABLE] = key
    try:
        yield LocalModel(path.stem, f"{server.listening_address.rstrip('/')}/v1", sha256_of(path))
    finally:
        os.environ.pop(KEY_VARIABLE, None)
        del server


def _usable_cores() -> int:
    """Cores that this process may run on: fewer than the machine has in a container or under taskset."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _require_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            is_gguf = file.read(len(MAGIC)) == MAGIC
    except OSError as error:
        raise UsageError(f"There is no file {path}.", error.strerror or "", "Check the name.") from error
    if not is_gguf:
        raise UsageError(f"{path.name} is no GGUF file.", "", "Give a model in llama.cpp's format.")
