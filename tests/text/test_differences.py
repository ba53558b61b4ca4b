from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotate.desk.chinese import SEGMENTER, ChineseSegmenter
from annotate.desk.differences import COMPARED, differences, in_words
from annotate.desk.negations import negations_of
from annotate.desk.words import HAN_RUN


def marks(reference: str, response: str) -> tuple[dict[str, str], dict[str, str]]:
    found = differences(reference, response)
    one = {reference[start:end]: kind for start, end, kind in found.reference}
    return one, {response[start:end]: kind for start, end, kind in found.response}


@pytest.mark.parametrize(
    ("reference", "response"),
    [
        ("He takes forty milligrams.", "Takes 40 mg."),
        ("1,000 IU since September 4, 2025", "since 2025-09-04: 1000 units"),
        ("He likes dogs", "the dog he liked"),
        ("in 2025", "on September 4, 2025"),
        ("does not like cats", "doesn't like cats"),
        ("每天四十毫克", "每天40mg"),
        ("４０毫克", "四十毫克"),
        ("المريض لا يعاني من الصُداع", "لا يعاني مريض من صداع"),
    ],
)
def test_the_same_in_other_words_is_not_marked(reference: str, response: str) -> None:
    assert marks(reference, response) == ({}, {})


@pytest.mark.parametrize(
    ("reference", "response", "one", "other"),
    [
        ("40 mg", "50 mg", {"40": "number"}, {"50": "number"}),
        ("40 mg", "40 g", {"mg": "unit"}, {"g": "unit"}),
        ("2 days", "2 weeks", {"days": "unit"}, {"weeks": "unit"}),
        ("5 mg daily, 10 g", "5 g daily, 10 mg", {"mg": "unit", "g": "unit"}, {"mg": "unit", "g": "unit"}),
        ("on 2025-09-04", "on 2025-10-04", {"2025-09-04": "date"}, {"2025-10-04": "date"}),
        ("September 4, 2024", "September 4, 2025", {"September 4, 2024": "date"}, {"September 4, 2025": "date"}),
        ("He does not smoke", "He smokes", {"not": "negation"}, {}),
        ("likes cats, doesn't like dogs", "does not like dogs", {"cats": "word"}, {}),
        (
            "Golden Retriever",
            "He likes Labradors",
            {"Golden": "word", "Retriever": "word"},
            {"likes": "word", "Labradors": "word"},
        ),
        ("患者否认过敏史", "患者有过敏史", {"否认": "negation"}, {}),
        ("他喜欢拉布拉多", "他喜欢金毛", {"拉布拉多": "word"}, {"金毛": "word"}),
        ("لا يعاني من الصداع", "يعاني من الصداع", {"لا": "negation"}, {}),
    ],
)
def test_what_differs_is_marked(reference: str, response: str, one: dict[str, str], other: dict[str, str]) -> None:
    assert marks(reference, response) == (one, other)


@pytest.mark.parametrize("text", ["不过非常好，对不起，未来是不是差不多", "No. 5, knot, nothingness", "无论如何，无线"])
def test_words_that_only_look_like_negations(text: str) -> None:
    assert list(negations_of(text)) == []


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_marks_are_ordered_apart_and_within_the_text(reference: str, response: str) -> None:
    found = differences(reference, response)
    for text, side in ((reference, found.reference), (response, found.response)):
        end = 0
        for mark in side:
            assert end <= mark.start < mark.end <= len(text)
            end = mark.end


@settings(deadline=None)
@given(st.text(max_size=60))
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    found = differences(text, text)
    assert found.reference == () and found.response == ()


def test_what_is_too_long_to_compare_is_said() -> None:
    assert not differences("x " * COMPARED, "y").complete
    assert differences("x", "y").complete


def test_differences_in_words() -> None:
    reference, response = "He takes 40 mg and does not smoke", "He takes 50 mg and smokes"
    assert in_words(differences(reference, response), reference, response) == [
        "number: only in the reference: 40; only in the response: 50",
        "negation: only in the reference: not",
    ]


class _WithoutJieba(ChineseSegmenter):
    def _start(self) -> bool:
        return False


def test_without_jieba_characters_are_compared() -> None:
    found = differences("他喜欢拉布拉多", "他喜欢金毛", _WithoutJieba())
    assert [(mark.start, mark.end) for mark in found.reference] == [(3, 7)]
    assert [(mark.start, mark.end) for mark in found.response] == [(3, 5)]


def test_the_segmenter_cuts_as_jieba_does() -> None:
    text = (
        "小明硕士毕业于中国科学院计算所，后在日本京都大学深造。他否认药物过敏史，每天服用阿司匹林，去年搬到了波士顿。"
    )
    runs = HAN_RUN.findall(text)
    cut = SEGMENTER.cut(runs)
    assert cut is not None and ["".join(words) for words in cut] == runs
    import jieba

    whole = jieba.Tokenizer()
    whole.FREQ, whole.total = whole.gen_pfdict(whole.get_dict_file())
    whole.initialized = True
    assert cut == [list(whole.cut(run)) for run in runs]


def test_jieba_says_and_writes_nothing(tmp_path: Path) -> None:
    code = (
        "from annotate.desk.differences import differences; print(len(differences('他喜欢狗', '他喜欢猫').reference))"
    )
    home = str(Path(__file__).parents[2])
    folder = {name: str(tmp_path) for name in ("TMPDIR", "TEMP", "TMP")}
    environment = {**os.environ, **folder, "PYTHONPATH": home, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=True)
    assert (run.stdout.strip(), run.stderr) == ("1", "")
    assert {path.name for path in tmp_path.iterdir()} <= {"bytecode"}
    assert logging.getLogger("jieba").handlers == []
