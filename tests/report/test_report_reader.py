"""With the report alone a reader can say what the judge gets wrong, how much, and whether to run the benchmark."""

from __future__ import annotations

import re

from tests.report.page_tree import Element, section


def test_the_first_page_answers_whether_to_run_the_full_benchmark(sample_page: Element) -> None:
    assert sample_page.one("h1").text == "May this judge score the full benchmark?"
    first = sample_page.one("section")
    verdict = first.one("div", "verdict")
    assert verdict.one("p", "word").text == "✗ No"
    assert verdict.one("p", "finding").text == "This judge should not score the full benchmark as it is."
    assert "It falls short in 3 and is undecided in 2 of 5 tasks or parts of tasks." in first.text


def test_the_first_page_says_what_the_judge_gets_wrong_and_how_much(sample_page: Element) -> None:
    said = sample_page.one("section").text
    for sentence in (
        "The judge misses 14 of 27 Partly items (105 checked).",
        "The judge misses 7 of 10 Mixed items (109 checked).",
        "The judge misses 6 of 15 Outside items (109 checked).",
        "The judge misses 2 of 5 Hallucination items (39 checked).",
        "The judge misses 10 of 19 Hallucination items (83 checked).",
    ):
        assert sentence in said
    assert (
        "tidepool, question_answering / correct_qa_ratio(valid): 0.634 as the judge has it, 0.405 with people's" in said
    )


def test_the_worst_tasks_come_first(sample_page: Element) -> None:
    words = [one.one("span", "word").text for one in sample_page.one("ul", "overview").all("li")]
    assert words[:3] == ["✗ Not good enough"] * 3
    assert all(word.startswith("? Undecided") for word in words[3:])


def test_each_task_opens_with_its_verdict_in_plain_words(sample_page: Element) -> None:
    verdict = section(sample_page, "Question answering").one("div", "verdict").text
    assert "Not good enough" in verdict
    assert "The judge misses 10 of 19 Hallucination items." in verdict
    assert "People called 19 items Hallucination; the judge agreed on 9 and called 10 Correct." in verdict


def test_what_is_undecided_says_how_many_labels_would_do(sample_page: Element) -> None:
    said = section(sample_page, "Memory accuracy").text
    assert re.search(r"Undecided: about \d+ more labels would do", said)
    kappa = next(one for one in section(sample_page, "Memory accuracy").all("li") if "Beyond chance" in one.text)
    assert "0.63 (no interval)" in kappa.text
    assert "undecided: about 73 more labels would do" in kappa.text


def test_one_annotator_is_no_ceiling_and_the_report_says_so(sample_page: Element) -> None:
    assert "One person labelled, so nobody can say how far people agree" in section(sample_page, "Memory update").text


def test_methods_name_seed_versions_files_and_every_refusal(sample_page: Element) -> None:
    said = section(sample_page, "Methods").text
    assert "seed 0" in said
    for name in ("overread", "duckdb", "numpy", "scipy", "krippendorff", "Python"):
        assert re.search(rf"{name} (\d|\(not installed)", said)
    assert len(re.findall(r"\b[0-9a-f]{64}\b", said)) >= 5  # four imported files, the last act of a chain
    assert "tidepool_eval_stat_result.json" in said
    assert "1 unreadable" in said
    assert "the rarest label, Hallucination, has 5 items and an interval needs 10" in said
    assert "people gave Other to no item" in said
    assert "337 labels came without a draw" in said
    assert "κ 0.484 without the unreadable verdicts, 0.472 with them as a further answer" in said


def test_the_markdown_says_the_same(sample_markdown: str) -> None:
    for sentence in (
        "**✗ No.** This judge should not score the full benchmark as it is.",
        "The judge misses 10 of 19 Hallucination items (83 checked).",
        "| Finds “Hallucination” | recall, 9 of 19 | 47\u00a0% (24–71\u00a0%) |",
        "**9 (47\u00a0%)**",
        "## Methods",
    ):
        assert sentence in sample_markdown
