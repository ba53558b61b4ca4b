"""Words of a text as they are compared: where they stand, and a key that spellings of one word share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u094f\u0951-\u0963\u0981-\u0d63\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u200c\u200d"
)
HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
WORD: Final = re.compile(rf"[^\W_{HAN}](?:[^\W_{HAN}]|[{_MARKS}])*(?:['’][^\W\d_{HAN}]+)?")
"""A run of letters, digits and their marks; Chinese, which writes no blanks, is cut elsewhere."""

HAN_RUN: Final = re.compile(f"[{HAN}]+")

_ENGLISH_STOP_WORDS: Final = """
a an the this that these those and or but so if then than as of to in on at by for from with into about over under since
is are was were be been being am do does did doing done have has had having will would shall should can could may might
must i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself himself
herself itself themselves who whom whose which what when where why how there here also just very too s t d ll re ve m
i'm it's he's she's that's i've i'd i'll you're they're we're
"""
_ARABIC_STOP_WORDS: Final = "في من إلى على عن مع هذا هذه ذلك تلك التي الذي هو هي هم أن إن كان كانت قد و أو ثم منذ"
STOP_WORDS: Final = frozenset((_ENGLISH_STOP_WORDS + _ARABIC_STOP_WORDS).split())

_CHINESE_STOP_WORDS: Final = """
的 了 是 在 和 与 也 都 就 而 及 或 着 过 吗 呢 吧 啊 这 那 有 我 你 您 他 她 它 我们 你们 他们 她们 对 为 以 被 把 从
到 于 会 能 要 可以 一个 这个 那个 之 其 所 但 但是 因为 所以 如果 还 又 很 将 给 让 向 由 等 地 得 个 只 名 位 条 张
"""
HAN_STOP_WORDS: Final = frozenset(_CHINESE_STOP_WORDS.split())
_ARABIC: Final = re.compile("[\u0600-\u06ff]")
_ARABIC_MARKS: Final = re.compile("[\u0610-\u061a\u0640\u064b-\u065f\u0670]")
_ARABIC_LETTERS: Final = str.maketrans("أإآٱىة", "اااايه")
_ARABIC_PREFIX: Final = re.compile("^(?:وال|فال|بال|كال|ال|لل|و)(?=...)")
_ENDINGS: Final = (("ies", "y"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""))


class Word(NamedTuple):
    """A word of a text: its place, and its key."""

    start: int
    end: int
    key: str


def words_of(text: str) -> Iterator[Word]:
    """The words of `text` that are not Chinese, stop words left out."""
    for match in WORD.finditer(text):
        lowered = match[0].lower()
        if lowered not in STOP_WORDS:
            yield Word(match.start(), match.end(), word_key(lowered))


@lru_cache(maxsize=65536)
def word_key(word: str) -> str:
    """What a lower-case word is compared by: English endings and Arabic articles, marks and letter variants removed.

    A light stemmer, not a lemmatiser: it makes "likes" and "liked" one word, and sometimes two words one.
    """
    word = unicodedata.normalize("NFKC", word).replace("’", "'").removesuffix("'s").removesuffix("'")
    if _ARABIC.search(word):
        bare = _ARABIC_MARKS.sub("", word).translate(_ARABIC_LETTERS)
        return _ARABIC_PREFIX.sub("", bare)
    return _english_stem(word) if word.isascii() else word


def _english_stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        stem = word[: -len(ending)]
        if word.endswith(ending) and len(stem) >= 3 and not word.endswith(("ss", "us", "is")):
            word = stem + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == "e" else word
