"""The string rules of entity match and multiple choice: exactly as coded, and read better.

As coded (`metrics/string_match.py`): punctuation is deleted before texts are compared, so "8.2" is found in "18.2" and
in "82"; option letters count only where word boundaries or a few phrases show them, so "BD" names none.
Read better: numbers and Latin words are whole or not there; letters are read from a list or from what is said of the
answer. Neither is proof: where the two differ, a person looks.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Literal, NamedTuple

DELETED = str.maketrans("", "", string.punctuation + "，。！？、；：（）【】《》·…—～－–")
CODED_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b([A-F])\b",
        r"选([A-F])",
        r"答案[是为：:]*\s*([A-F])",
        r"choose\s*([A-F])",
        r"answer[:\s]*([A-F])",
        r"([A-F])选项",
    )
)
"""The official ones, in lower case where the official ones are: on upper-cased text those two match nothing."""

GOLD_LETTER = re.compile(r"^([A-F])[.、:\s]")

NUMBER = r"(?:(?<![\w.])[-+−])?\d+(?:,\d{3})*(?:\.\d+)?"
TOKEN = re.compile(rf"({NUMBER})|([^\W\d_\u4e00-\u9fff]+)|([\u4e00-\u9fff])")
NEGATION = re.compile(
    r"禁用|停用|禁忌|不能|不可|不宜|不要|避免|没有|并非|不是|未|无|\b(?:not|no|never|avoid|stop(?:ped)?|without)\b",
    re.I,
)
NEAR = 12
"""Characters around a match that are searched for a negation, within its clause."""
CLAUSE_END = re.compile(r"[，。；！？,.;!?\n]")

UNITS = {
    "毫米汞柱": "mmHg",
    "摄氏度": "°C",
    "毫摩尔": "mmol",
    "微摩尔": "μmol",
    "毫克": "mg",
    "微克": "μg",
    "毫升": "ml",
    "公斤": "kg",
    "千克": "kg",
    "mcg": "μg",
}
"""Units in words → as the references write them; before tokens are compared."""

LIST = r"[A-F](?:\s*(?:[,，、;；/&+和与及]|AND|OR)?\s*[A-F])*(?![A-Za-z])"
WHOLE_LIST = re.compile(rf"[\s(（\[]*({LIST})[\s)）\].。]*\Z")
SAID = re.compile(
    r"(?:(?<![不别勿非])(?:(?:正确|最终)?(?:答案|选项)|选择|应选|选)|\b(?<!NOT )(?<!N'T )(?:CORRECT |FINAL |BEST )?"
    r"(?:ANSWERS?|OPTIONS?|CHOICES?|CHOOSE|SELECT|PICK))(?:\s*(?:是|为|应为|IS|ARE|WOULD BE))?\s*[:：]?\s*[(（]?"
    rf"({LIST})"
)
LINE_LETTER = re.compile(r"(?m)^\s*[(（]?([A-F])\s*[.、)）:：]")
AT_END = re.compile(rf"[:：]\s*({LIST})\s*[.。]?\s*\Z")
ALONE = re.compile(r"(?<![A-Za-z])(?:([B-F])|(A)(?!\s+[a-z]))(?![A-Za-z])")
"""A capital by itself, the article left out."""

EntityDoubt = Literal["", "number_cut", "word_cut", "spelling", "negated"]
ChoiceDoubt = Literal["", "letters_missed", "letters_extra", "letters_differ", "letters_unread"]


# As coded


def normalise(text: str) -> str:
    """N(x): ASCII and some Chinese punctuation and all white space deleted, lower case; no Unicode folding."""
    return "".join(text.translate(DELETED).split()).lower()


def entity_as_coded(answers: Sequence[str], output: str) -> bool:
    """Correct when every correct answer, normalised, is somewhere in the normalised output."""
    found = normalise(output)
    return bool(answers) and all(normalise(answer) and normalise(answer) in found for answer in answers)


def letters_as_coded(output: str) -> frozenset[str]:
    """The option letters that the six official patterns find in the upper-cased output."""
    upper = output.upper()
    return frozenset(letter for pattern in CODED_PATTERNS for letter in pattern.findall(upper))


def gold_letters(contents: Sequence[str]) -> frozenset[str]:
    """The letters of the correct options ("B. …")."""
    matches = (GOLD_LETTER.match(content.upper()) for content in contents)
    return frozenset(match.group(1) for match in matches if match)


def choice_as_coded(gold: frozenset[str], output: str) -> bool:
    """Correct when the two sets of letters are equal, two empty ones included."""
    return letters_as_coded(output) == gold


# Read better


def tokens(text: str) -> list[str]:
    """Numbers (as canonical decimals), words, and single Chinese characters, after NFKC and case folding.

    The unit of token F1 and ROUGE-L too, so that Chinese needs no dictionary.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return [_number(number) if number else word or char for number, word, char in TOKEN.findall(folded)]


def _number(text: str) -> str:
    try:
        value = Decimal(text.replace(",", "").replace("−", "-"))
    except InvalidOperation:
        return text
    return format(value.normalize(), "f") if value else "0"


def entity_read_better(answers: Sequence[str], output: str) -> bool:
    """Correct when the tokens of every correct answer stand in the output one after the other."""
    found = _entity_tokens(output)
    return bool(answers) and all(_stands_in(_entity_tokens(answer), found) for answer in answers)


def _entity_tokens(text: str) -> list[str]:
    for words, unit in UNITS.items():
        text = text.replace(words, f" {unit} ")
    return tokens(text)


def _stands_in(wanted: Sequence[str], found: Sequence[str]) -> bool:
    n = len(wanted)
    return n > 0 and any(list(found[i : i + n]) == list(wanted) for i in range(len(found) - n + 1))


def letters_read_better(output: str) -> frozenset[str] | None:
    """The letters an answer means: a bare list, else what it last says of its answer, else its only letter; or None."""
    text = unicodedata.normalize("NFKC", output).strip()
    if whole := WHOLE_LIST.match(text.upper()):
        return _letters(whole.group(1))
    upper = _keep_capitals(text)
    if said := SAID.findall(upper):
        return _letters(said[-1])
    if lines := LINE_LETTER.findall(upper):
        return frozenset(lines)
    if end := AT_END.search(upper):
        return _letters(end.group(1))
    alone = {first or second for first, second in ALONE.findall(text)}
    return frozenset(alone) if len(alone) == 1 else None


def _keep_capitals(text: str) -> str:
    """Upper case without new option letters: "answer: a glass of milk" names no option."""
    return re.sub(r"(?<![A-Za-z])([a-f])(?![A-Za-z])", "·", text).upper()


def _letters(text: str) -> frozenset[str]:
    return frozenset(char for char in text.replace("AND", "").replace("OR", "") if char in "ABCDEF")


def choice_read_better(gold: frozenset[str], output: str) -> bool:
    return letters_read_better(output) == gold


# Where they differ


class Doubt(NamedTuple):
    """What is doubtful about a rule's outcome; `kind` "" for nothing."""

    kind: str
    as_coded: bool
    read_better: bool
    why: str


def entity_doubt(answers: Sequence[str], output: str) -> Doubt:
    """Compares both readings of an entity match; a match beside a negation is doubtful though both agree."""
    coded, better = entity_as_coded(answers, output), entity_read_better(answers, output)
    if coded and not better:
        kind, why = _cut(answers, output)
        return Doubt(kind, coded, better, why)
    if better and not coded:
        return Doubt("spelling", coded, better, "the answer is there in another spelling, quote or sign")
    if coded and any(_negated(answer, output) for answer in answers):
        return Doubt("negated", coded, better, "a negation stands beside the answer")
    return Doubt("", coded, better, "")


def _cut(answers: Sequence[str], output: str) -> tuple[EntityDoubt, str]:
    found = _entity_tokens(output)
    missing = [
        token for answer in answers if not _stands_in(_entity_tokens(answer), found) for token in _entity_tokens(answer)
    ]
    if any(token[:1].isdigit() or token[:1] == "-" for token in missing if token not in found):
        return "number_cut", "the answer's number is only a piece of another number, or its decimal point is gone"
    return "word_cut", "the answer is only a piece of a longer word, or stands apart there"


def _negated(answer: str, output: str) -> bool:
    at = output.lower().find(answer.lower())
    if at < 0 or NEGATION.search(answer):
        return False
    before = CLAUSE_END.split(output[max(0, at - NEAR) : at])[-1]
    after = CLAUSE_END.split(output[at + len(answer) : at + len(answer) + NEAR])[0]
    return NEGATION.search(f"{before}·{after}") is not None


def choice_doubt(gold: frozenset[str], output: str) -> Doubt:
    """Compares both readings of a multiple-choice answer."""
    coded, better = letters_as_coded(output), letters_read_better(output)
    outcome = (coded == gold, better == gold)
    if better is None:
        if not output.strip():
            return Doubt("", *outcome, "")
        return Doubt("letters_unread", *outcome, "no letter can be read as the answer")
    if coded == better:
        return Doubt("", *outcome, "")
    kind: ChoiceDoubt = "letters_missed" if coded < better else "letters_extra" if coded > better else "letters_differ"
    return Doubt(kind, *outcome, f"the rule reads {_named(coded)}, the answer says {_named(better)}")


def _named(letters: frozenset[str]) -> str:
    return ", ".join(sorted(letters)) or "no letter"
