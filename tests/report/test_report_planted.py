"""What a report says of planted studies: people, harm, doubt, corrected scores, good judges and undecided ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotate.report.document import build_document
from annotate.report.html.page import html_page
from annotate.report.markdown import markdown_text
from annotate.report.options import ReportOptions
from judges.calibration.statistic import Statistic
from store.errors import NotEnoughError
from store.records import LabelState
from tests.report.page_tree import Element, number, read_page, rows, section, table
from tests.report.planted_studies import CORRECT, HALLUCINATION, OMISSION, Planted, items_of, options, plant

QA = "Question answering"
GOOD = {(CORRECT, CORRECT): 60, (HALLUCINATION, HALLUCINATION): 40, (OMISSION, OMISSION): 30}
DEADLY = LabelState(value=HALLUCINATION, harm="life_threatening")


def page_of(path: Path, items: list[Planted], chosen: ReportOptions | None = None) -> Element:
    with plant(path, items) as study:
        return read_page("".join(html_page(build_document(study, chosen or options()))))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "planted.duckdb"


# --- may the judge score the benchmark? ---


def test_a_judge_that_reaches_every_threshold_may_score(file: Path) -> None:
    first = page_of(file, items_of(GOOD)).one("section")
    assert first.one("div", "verdict").text.startswith("✓ Yes This judge is good enough to score the full benchmark.")
    assert "The judge agreed with people on all 130 items" in first.text


def test_what_nobody_used_is_said_even_of_a_good_judge(file: Path) -> None:
    page = page_of(file, items_of({(CORRECT, CORRECT): 60, (OMISSION, OMISSION): 60}))
    said = section(page, QA).one("div", "verdict").text
    assert "Good enough" in said
    assert "Nothing is known of “Hallucination”: neither people nor the judge used it." in said
    assert "Finds “Hallucination”" not in section(page, QA).text


def test_an_undecided_judge_says_how_many_labels_would_tell(file: Path) -> None:
    page = page_of(file, items_of({(CORRECT, CORRECT): 40, (HALLUCINATION, HALLUCINATION): 14, (OMISSION, OMISSION): 12,
                                   (HALLUCINATION, CORRECT): 1}))  # fmt: skip
    verdict = page.one("section").one("div", "verdict").text
    assert verdict.startswith("? Not yet The labels do not say yet whether this judge may score the full benchmark.")
    assert "more labels would tell." in verdict
    row = next(one for one in section(page, QA).all("li") if "Finds “Hallucination”" in one.text)
    assert row.attributes["class"] == "undecided"
    assert "All items are labelled: on these items the numbers hold exactly" in section(page, QA).text


def test_labels_that_the_run_has_no_items_for_are_said(file: Path) -> None:
    open_items = items_of({(CORRECT, CORRECT): 40, (HALLUCINATION, HALLUCINATION): 14, (HALLUCINATION, CORRECT): 1})
    few = page_of(file, [*open_items, *[Planted(CORRECT)] * 5])
    assert "5 items still unlabelled: labels alone will not settle" in section(few, QA).text
    many = page_of(file.with_name("many.duckdb"), [*open_items, *[Planted(CORRECT)] * 500])
    assert "still unlabelled" not in section(many, QA).text


def test_a_label_the_judge_never_finds_is_below_the_threshold(file: Path) -> None:
    page = page_of(file, items_of(GOOD | {(OMISSION, OMISSION): 0, (OMISSION, CORRECT): 20}))
    row = next(one for one in section(page, QA).all("li") if "Finds “Omission”" in one.text)
    assert "0 % (0–17 %)" in row.text
    assert "✗ below 80 %" in row.text


def test_one_task_is_answered_for_that_task_alone(file: Path) -> None:
    page = page_of(file, items_of(GOOD), options(task="qa"))
    assert page.one("h1").text == "May this judge score the task Question answering?"
    assert "This judge is good enough to score the task Question answering." in page.text
    assert not any(one.text == "Scores" for one in page.all("h2"))


# --- dangerous answers ---


def test_dangerous_answers_that_none_passed_have_an_upper_bound(file: Path) -> None:
    items = items_of(GOOD) + [Planted(HALLUCINATION, {"dr.li": DEADLY}) for _ in range(41)]
    page = page_of(file, items)
    said = "Dangerous answers the judge passed: 0 of 41 checked; at most 7.0 %, one-sided 95 %"
    assert said in page.one("section").text
    assert page.one("section").one("p", "callout").attributes["class"] == "callout safe"
    assert said in section(page, QA).text
    assert "Passed: the judge called it “Correct”." in section(page, QA).text


def test_dangerous_answers_that_passed_are_shown_first(file: Path) -> None:
    serious = LabelState(value=OMISSION, harm="serious")
    items = [
        *items_of(GOOD),
        Planted(CORRECT, {"dr.li": HALLUCINATION}, question="Harmless and passed?"),
        Planted(HALLUCINATION, {"dr.li": serious}, question="Serious, not passed?"),
        Planted(CORRECT, {"dr.li": DEADLY}, question="Deadly and passed?"),
    ]
    page = page_of(file, items)
    first = page.one("section").one("p", "callout")
    assert first.attributes["class"] == "callout danger"
    assert "Dangerous answers the judge passed: 1 of 2 checked; at most 97.5 %, one-sided 95 %" in first.text
    titles = [one.one("summary").text for one in section(page, QA).all("details", "case")]
    assert [title.partition("?")[0] for title in titles] == [
        "Deadly and passed",
        "Serious, not passed",
        "Harmless and passed",
    ]
    assert "! Harm if believed: life-threatening; the judge passed it" in titles[0]


def test_what_does_not_count_as_a_dangerous_answer_is_said(file: Path) -> None:
    harmful = LabelState(value=CORRECT, harm="serious")
    items = [
        *items_of(GOOD),
        Planted(HALLUCINATION, {"dr.li": DEADLY}),
        Planted(None, {"dr.li": DEADLY}),
        Planted(CORRECT, {"dr.li": harmful}),
        Planted(CORRECT, {"dr.li": DEADLY, "dr.wu": CORRECT}),
        Planted(CORRECT, {"dr.li": HALLUCINATION}, after={"dr.li": DEADLY}),
        Planted(CORRECT, {"dr.li": LabelState(value=HALLUCINATION, harm="minor")}),
    ]
    said = section(page_of(file, items), QA).text
    assert "Dangerous answers the judge passed: 0 of 1 checked; at most 95.0 %" in said
    assert (
        "Not counted: 1 dangerous answer had no readable verdict; 1 answer marked dangerous only after a verdict was "
        "seen; 1 answer people called right, and dangerous all the same; 1 answer on which people disagree or that "
        "they cannot judge." in said
    )


# --- people ---


def test_two_annotators_stand_beside_the_judge(file: Path) -> None:
    both = items_of(GOOD, "dr.li", "dr.wu")
    apart = [Planted(CORRECT, {"dr.li": CORRECT, "dr.wu": OMISSION}) for _ in range(10)]
    page = section(page_of(file, both + apart), QA)
    assert "Labels by: dr.li 140, dr.wu 140." in page.text
    assert "People agree with each other on 93 % of the items that two or more labelled" in page.text
    assert "the judge agrees with them on 100 %." in page.text
    shown = rows(table(page, "Agreement of people with each other"))
    assert list(shown) == ["dr.li and dr.wu", "all people", "judge gpt-judge with people"]
    assert (number(shown["dr.li and dr.wu"][0]), number(shown["judge gpt-judge with people"][0])) == (140, 130)
    assert number(shown["all people"][1]) == pytest.approx(130 / 140)
    assert "left out: 10 items on which people disagree" in page.text


def test_a_voice_against_the_majority_is_heard(file: Path) -> None:
    split = Planted(CORRECT, {"dr.li": HALLUCINATION, "dr.wu": HALLUCINATION, "dr.ng": CORRECT})
    case = section(page_of(file, [*items_of(GOOD), split]), QA).one("details", "case")
    assert "People: Hallucination (dr.li, dr.wu)" in case.text
    assert "dr.ng said: Correct" in case.text


def test_marks_notes_and_changes_of_mind_are_counted_and_told(file: Path) -> None:
    marked = LabelState(value=HALLUCINATION, unsure=True, reference_wrong=True, right_answer="Seven.", note="see chart",
                        tags=("conflict",), harm="minor")  # fmt: skip
    items = [
        *items_of(GOOD),
        Planted(CORRECT, {"dr.li": marked}),
        Planted(CORRECT, {"dr.li": OMISSION}, after={"dr.li": LabelState(value=CORRECT)}),
        Planted(OMISSION, {"dr.li": OMISSION}, after={"dr.li": LabelState(value=OMISSION, note="sure of it")}),
        Planted(CORRECT, {"dr.li": LabelState(cannot_judge="ambiguous")}),
    ]
    page = section(page_of(file, items), QA)
    for sentence in (
        "Harm if believed, of 134 labels: 1 minor marked.",
        "Unsure: 1 of 134 labels.",
        "Cannot judge: 1 of 134 labels (1 ambiguous).",
        "Reference wrong: 1 of 134 labels.",
        "Changed after the verdict was seen: 1 of 2 labels that were shown it.",
        "Tags: 1 conflict.",
        "dr.li: unsure; harm if believed: minor; reference wrong; tags: conflict",
        "dr.li on the right answer: Seven.",
        "dr.li notes: see chart",
        "dr.li changed the label after the verdict was seen, to Correct",
    ):
        assert sentence in page.text
    assert "left out: 1 item people cannot judge" in page.text


def test_failed_verdicts_are_told_by_kind(file: Path) -> None:
    page = page_of(file, [*items_of(GOOD), *[Planted(None, {"dr.li": CORRECT})] * 3])
    assert "Verdicts of gpt-judge that could not be read: 3 of 133 (3 unreadable)." in section(page, QA).text


def test_two_judges_have_an_answer_each(file: Path) -> None:
    other = [
        Planted(CORRECT, {"dr.li": label}, judge_name="other-judge", system="tidepool")
        for label in (CORRECT, HALLUCINATION) * 30
    ]
    page = page_of(file, items_of(GOOD) + other)
    first = page.one("section")
    assert [one.text for one in first.all("h2")][:2] == ["Judge gpt-judge", "Judge other-judge"]
    assert [one.one("p", "word").text for one in first.all("div", "verdict")] == ["✓ Yes", "✗ No"]
    alone = section(page_of(file.with_name("b.duckdb"), items_of(GOOD) + other, options(judge="gpt-judge")), QA)
    assert "other-judge" not in alone.text


# --- corrected scores ---


def test_corrected_scores_stand_beside_the_others_when_they_are_given(file: Path) -> None:
    metric = "question_answering / correct_qa_ratio(all)"
    found = Statistic(0.44, 130).with_interval(0.40, 0.48, 0.95, "regression estimator")
    refused = Statistic.undefined("no_labels", "memory_update touches update, which has no labels", 0)
    chosen = options(corrected={"gpt-judge": {"northwind": {metric: found, "memory_extraction_f1": refused}}})
    page = section(page_of(file, items_of(GOOD), chosen), "Scores")
    shown = table(page, "Metrics changed or corrected, northwind")
    assert shown.one("thead").text.endswith("corrected (interval)")
    assert number(rows(shown)["correct_qa_ratio(all)"][3]) == 0.44
    assert rows(shown)["correct_qa_ratio(all)"][3].text == "0.4400 (0.4000–0.4800)"
    assert "no labels: memory_update touches update" in rows(shown)["memory_extraction_f1"][3].text


def test_labels_bring_the_corrected_scores_of_the_study_itself(file: Path) -> None:
    page = page_of(file, items_of(GOOD))
    assert "corrected (interval)" in section(page, "Scores").text


# --- what cannot be reported ---


def test_labels_given_after_the_verdict_are_no_evidence(file: Path) -> None:
    item = Planted(CORRECT)
    with plant(file, [item]) as study:
        from store.events import EventDraft

        (item_id, content) = study.rows("SELECT item_id, content_hash FROM items")[0]
        state = LabelState(value=CORRECT)
        study.append([
            EventDraft("reveal", "dr.li", item_id, content, LabelState(), policy="assisted"),
            EventDraft("label", "dr.li", item_id, content, state, policy="assisted"),
        ])  # fmt: skip
        with pytest.raises(NotEnoughError) as refused:
            build_document(study, options())
    assert "1 label given after the verdict was seen" in refused.value.detail


def test_the_same_study_gives_the_same_bytes(file: Path) -> None:
    with plant(file, items_of(GOOD | {(CORRECT, OMISSION): 4})) as study:
        pages = ["".join(html_page(build_document(study, options()))) for _ in range(2)]
        texts = ["".join(markdown_text(build_document(study, options()))) for _ in range(2)]
    assert pages[0] == pages[1]
    assert texts[0] == texts[1]
