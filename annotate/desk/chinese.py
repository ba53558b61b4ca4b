"""Chinese cut into words by jieba, without its cache file, its log and the second it takes to load all of its words."""

from __future__ import annotations

import importlib
import logging
import re
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Final

_ENTRY_END: Final = re.compile(r" (\d+)[^\n]*")


class ChineseSegmenter:
    """Cuts runs of Chinese characters into words.

    jieba's own start reads the whole dictionary into memory and keeps a copy, in a format that runs on loading, under a
    fixed name in the shared temporary folder. Here only the words are loaded whose first character occurs in the text,
    and nothing is written. The cuts are the same. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._dictionary = ""
        self._tokenizer: Any = None
        self._known: set[str] = set()
        self._failed = False

    def cut(self, runs: Sequence[str]) -> list[list[str]] | None:
        """The words of each run of Chinese characters, in order; None when jieba cannot be used."""
        with self._lock:
            if not self._start():
                return None
            self._learn(set().union(*runs) - self._known)
            return [list(self._tokenizer.cut(run)) for run in runs]

    def warm(self) -> None:
        """Load what any first `cut` needs, a third of a second; for a thread that has time before that."""
        with self._lock:
            self._start()

    def _start(self) -> bool:
        if self._tokenizer is None and not self._failed:
            try:
                jieba = _import_jieba()
                self._dictionary = "\n" + Path(str(jieba.__file__)).with_name("dict.txt").read_text(encoding="utf-8")
                tokenizer = jieba.Tokenizer()
            except (ImportError, OSError, AttributeError):
                self._failed = True
                return False
            tokenizer.total = sum(map(int, _ENTRY_END.findall(self._dictionary)))
            tokenizer.initialized = True
            self._tokenizer = tokenizer
        return not self._failed

    def _learn(self, firsts: set[str]) -> None:
        """Load the words that start with these characters, and all beginnings of them, as jieba wants them."""
        if not firsts:
            return
        self._known |= firsts
        frequencies = self._tokenizer.FREQ
        entries = re.compile(rf"\n([{re.escape(''.join(firsts))}]\S*) (\d+)")
        for word, frequency in entries.findall(self._dictionary):
            frequencies[word] = int(frequency)
            for length in range(1, len(word)):
                frequencies.setdefault(word[:length], 0)


def _import_jieba() -> ModuleType:
    """jieba, without the warnings of its old syntax and without its handler on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jieba = importlib.import_module("jieba")
    logger = logging.getLogger("jieba")
    logger.handlers.clear()
    logger.setLevel(logging.WARNING)
    return jieba


SEGMENTER: Final = ChineseSegmenter()
"""The program's one segmenter: its dictionary is large."""
