"""Tells MedMemoryBench's files apart by the names in their first 64 kB."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from judges.benchmarks.json_text import encoding_of
from judges.benchmarks.medmemorybench.shapes import BENCHMARK_NAME, TASK_OF_TYPE

HEAD_BYTES = 1 << 16

FileKind = Literal["answers", "checkpoint", "result", "queries", "build_log", "other_benchmark", ""]
"""answers: *_query_answer.json. queries: generated_queries.json. build_log: *_memory_build.json, of which nothing is
read. other_benchmark: a file of the same harness about another data set."""

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|([{\[])|([}\]])')
DATASET = re.compile(r'"dataset_name"\s*:\s*"([^"]*)"')


def kind_of_head(head: bytes) -> FileKind:
    """What a file is, by its first bytes; "" when it is none of the benchmark's."""
    text = head.decode("utf-16" if encoding_of(head) == "UTF-16" else "utf-8", "replace")
    top, strings = _top_names(text)
    if {"method_name", "completed_results"} <= top:
        return _of_this_benchmark("checkpoint", text, strings)
    if "method_name" in top and ("by_context" in top or "queries" in top):
        return _of_this_benchmark("answers", text, strings)
    if {"method_name", "summary", "units"} <= top or {"method_name", "memory_chunk_size"} <= top:
        return "build_log"
    if {"method_name", "summary"} <= top and ("efficiency" in top or "config" in top or "duration_seconds" in top):
        return _of_this_benchmark("result", text, strings)
    if "queries" in top and strings & {"source_key_points", "query_type"} and strings & TASK_OF_TYPE.keys():
        return "queries"
    return ""


def kind_of_file(path: Path) -> FileKind:
    """`kind_of_head` of a file.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as stream:
        return kind_of_head(stream.read(HEAD_BYTES))


def _of_this_benchmark(kind: FileKind, text: str, strings: set[str]) -> FileKind:
    """The harness also runs other data sets, whose query types are others."""
    named = DATASET.search(text)
    ours = (named is not None and BENCHMARK_NAME in named.group(1).lower()) or strings & TASK_OF_TYPE.keys()
    return kind if ours else "other_benchmark"


def _top_names(text: str) -> tuple[set[str], set[str]]:
    """Names of the top object's members, and every string that is there."""
    names: set[str] = set()
    strings: set[str] = set()
    depth = 0
    for string, colon, opening, closing in TOKEN.findall(text):
        depth += bool(opening) - bool(closing)
        if not opening and not closing:
            strings.add(string)
            if colon and depth == 1:
                names.add(string)
    return names, strings
