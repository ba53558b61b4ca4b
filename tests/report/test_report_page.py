"""The sample's HTML report: a sound page without script or network, whose numbers are those of `audit` and `score`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from judges.benchmarks.halumem.tasks import TASKS
from tests.report.page_tree import Element, number, rows, section, table

TITLES = {task.task: task.title for task in TASKS}
LABELS = {task.task: {label.value: label.title for label in task.labels} for task in TASKS}


def judge_of(audit: dict[str, Any], task: str) -> dict[str, Any]:
    judges: dict[str, dict[str, Any]] = audit["tasks"][task]["judges"]
    return next(iter(judges.values()))


# --- the page itself ---


def test_the_page_runs_nothing_and_fetches_nothing(sample_html: str, sample_page: Element) -> None:
    policy = next(one for one in sample_page.all("meta") if "http-equiv" in one.attributes)
    assert policy.attributes["http-equiv"] == "Content-Security-Policy"
    assert policy.attributes["content"].startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "http:" not in sample_html and "https:" not in sample_html
    tags = {one.tag for one in sample_page.all()}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "form", "base", "video", "audio"})
    assert "url(" not in sample_html and "@import" not in sample_html


def test_no_attribute_acts_or_leads_outside(sample_page: Element) -> None:
    for one in sample_page.all():
        for name, value in one.attributes.items():
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "action", "formaction", "xlink:href", "data", "ping")
            assert name != "href" or value.startswith("#")


def test_ids_are_unique_and_every_link_and_description_leads_to_one(sample_page: Element) -> None:
    ids = [one.attributes["id"] for one in sample_page.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    links = [one.attributes["href"][1:] for one in sample_page.all("a")]
    described = [name for one in sample_page.all("svg") for name in one.attributes["aria-labelledby"].split()]
    assert links and described
    assert set(links) | set(described) <= set(ids)


def test_the_page_can_be_read_on_a_phone_in_the_dark_and_on_paper(sample_html: str, sample_page: Element) -> None:
    names = {one.attributes.get("name"): one.attributes.get("content") for one in sample_page.all("meta")}
    assert names["viewport"] == "width=device-width, initial-scale=1"
    assert names["color-scheme"] == "light dark"
    assert {"(prefers-color-scheme: dark)", "print"} <= set(re.findall(r"@media (\(prefers[^{]*\)|print)", sample_html))
    assert sample_page.one("html").attributes["lang"] == "en"


def test_every_picture_is_told_in_words(sample_page: Element) -> None:
    pictures = list(sample_page.all("svg"))
    assert len(pictures) > 20
    for one in pictures:
        assert one.attributes["role"] == "img"
        assert one.one("title").text
    row = next(one for one in section(sample_page, TITLES["qa"]).all("li") if "Finds “Hallucination”" in one.text)
    assert row.one("desc").text == "47 % (24–71 %); threshold 80 %; below 80 %"


def test_no_meaning_hangs_on_colour_alone(sample_page: Element) -> None:
    """Every answer has a sign and words, and the point on the axis its own shape."""
    answers = {
        "met": ("✓", "reaches", "circle"),
        "missed": ("✗", "below", "rect"),
        "undecided": ("?", "undecided", "circle"),
    }
    seen = set()
    for row in (one for scale in sample_page.all("figure", "scale") for one in scale.all("li")):
        answer = row.attributes["class"]
        sign, word, shape = answers[answer]
        assert row.one("p", "answer").one("span", "sign").text == sign
        assert word in row.one("p", "answer").text
        assert row.one(shape, "point")
        seen.add(answer)
    assert seen == {"met", "missed", "undecided"}


def test_headings_go_down_one_level_at_a_time(sample_page: Element) -> None:
    levels = [int(one.tag[1]) for one in sample_page.all() if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))


# --- the numbers ---


def scale_rows(page: Element, task: str) -> dict[str, Element]:
    scale = next(section(page, TITLES[task]).all("figure", "scale"))
    return {row.one("b").text: row for row in scale.all("li")}


@pytest.mark.parametrize("task", list(TITLES))
def test_every_key_number_is_the_audits(task: str, sample_page: Element, sample_audit: dict[str, Any]) -> None:
    found, shown = judge_of(sample_audit, task), scale_rows(sample_page, task)
    for label, row in found["per_label"].items():
        title = LABELS[task][label]
        if row["n"] or row["called"]:
            assert number(shown[f"Finds “{title}”"]) == row["recall"]["value"]
            assert number(shown[f"When it says “{title}”"]) == row["precision"]["value"]
        else:
            assert f"Finds “{title}”" not in shown
    assert number(shown["Beyond chance"]) == found["cohen_kappa"]["value"]


def test_intervals_and_thresholds_are_drawn_where_they_are(sample_page: Element, sample_audit: dict[str, Any]) -> None:
    recall = judge_of(sample_audit, "qa")["per_label"]["Hallucination"]["recall"]
    drawn = scale_rows(sample_page, "qa")["Finds “Hallucination”"].one("svg")
    interval = drawn.one("line", "interval").attributes
    places = [float(value.rstrip("%")) for value in (interval["x1"], interval["x2"])]
    assert places == [pytest.approx(100 * recall["low"], abs=0.01), pytest.approx(100 * recall["high"], abs=0.01)]
    assert float(drawn.one("rect", "point").attributes["x"].rstrip("%")) == pytest.approx(
        100 * recall["value"], abs=0.01
    )
    assert drawn.one("line", "threshold").attributes["x1"] == "80%"


@pytest.mark.parametrize("task", list(TITLES))
def test_the_confusion_is_the_audits_with_its_numbers_printed(
    task: str, sample_page: Element, sample_audit: dict[str, Any]
) -> None:
    shown = rows(table(section(sample_page, TITLES[task]), f"Confusion, {TITLES[task]}"))
    for label, counts in judge_of(sample_audit, task)["confusion"].items():
        cells = shown[LABELS[task][label]]
        assert [number(cell) for cell in cells] == [*counts.values(), sum(counts.values())]
        assert all(str(count) in cell.text for cell, count in zip(cells, counts.values(), strict=False))


@pytest.mark.parametrize("task", list(TITLES))
def test_all_coefficients_and_labels_are_the_audits(
    task: str, sample_page: Element, sample_audit: dict[str, Any]
) -> None:
    found, page = judge_of(sample_audit, task), section(sample_page, TITLES[task])
    names = {"raw agreement": "raw_agreement", "Cohen's κ": "cohen_kappa", "Krippendorff's α": "krippendorff_alpha",
             "Gwet's AC1": "gwet_ac1", "weighted κ": "weighted_kappa"}  # fmt: skip
    shown = rows(table(page, f"Coefficients, {TITLES[task]}"))
    for title, name in names.items():
        assert (title in shown) == (name in found)
        if name in found:
            assert number(shown[title][0]) == found[name]["value"]
            assert number(shown[title][1]) == found[name]["n"]
    labels = rows(table(page, f"Each label, {TITLES[task]}"))
    for label, row in found["per_label"].items():
        cells = labels[LABELS[task][label]]
        assert [number(cells[0]), number(cells[1])] == [row["n"], row["called"]]
        for cell, name in zip(cells[2:], ("recall", "precision", "f1"), strict=True):
            value = row[name]["value"]
            assert cell.text == "–" if value is None else number(cell) == value


def test_parts_have_their_own_numbers(sample_page: Element, sample_audit: dict[str, Any]) -> None:
    part = next(iter(sample_audit["tasks"]["accuracy"]["parts"]["included"]["judges"].values()))
    scales = list(section(sample_page, TITLES["accuracy"]).all("figure", "scale"))
    shown = {row.one("b").text: row for row in scales[1].all("li")}
    assert number(shown["Finds “Outside”"]) == part["per_label"]["false"]["recall"]["value"] == 0.6


def slices_shown(page: Element, task: str) -> Iterator[tuple[str, dict[str, list[Element]]]]:
    for one in section(page, TITLES[task]).all("table"):
        caption = one.one("caption").text
        if caption.startswith("By ") and caption.endswith(f"{TITLES[task]}: how often judge and people agree"):
            yield caption.removeprefix("By ").partition(",")[0], rows(one)


@pytest.mark.parametrize("task", ["integrity", "qa"])
def test_slices_are_the_audits_and_small_ones_are_said(
    task: str, sample_page: Element, sample_audit: dict[str, Any]
) -> None:
    slices = judge_of(sample_audit, task)["slices"]
    shown = dict(slices_shown(sample_page, task))
    assert set(shown) == {name.replace("_", " ") for name, values in slices.items() if len(values) > 1}
    few = 0
    for name, values in slices.items():
        for value, found in values.items() if len(values) > 1 else ():
            small = found["n"] < 20
            few += small
            cells = shown[name.replace("_", " ")][f"{value} (few items)" if small else value]
            assert (number(cells[0]), number(cells[1])) == (found["n"], found["raw_agreement"]["value"])
    assert few > 0


def test_scores_are_those_of_score(sample_page: Element, sample_scores: dict[str, Any]) -> None:
    page = section(sample_page, "Scores")
    for system, found in sample_scores["systems"].items():
        changed = rows(table(page, f"Metrics changed or corrected, {system}"))
        coded, people = found["as_coded"]["question_answering"], found["overridden"]["question_answering"]
        name = "correct_qa_ratio(all)"
        assert [number(cell) for cell in changed[name][:2]] == [coded[name], people[name]]
        kept = rows(table(page, f"Metrics that stay as they are, {system}"))
        assert number(kept["qa_num"][0]) == coded["qa_num"]
    assert "As coded equals the scores that the imported file states, number for number." in page.text


def test_every_metric_stands_in_one_of_the_two_tables(sample_page: Element, sample_scores: dict[str, Any]) -> None:
    page = section(sample_page, "Scores")
    for system, found in sample_scores["systems"].items():
        metrics = sum(1 for _ in leaves(found["as_coded"]))
        shown = [
            row
            for one in page.all("table")
            if one.one("caption").text.startswith("Metrics ") and one.one("caption").text.endswith(system)
            for row in one.one("tbody").all("tr")
            if row.attributes.get("class") != "group"
        ]
        assert len(shown) == metrics


def leaves(scores: dict[str, Any]) -> Iterator[Any]:
    for value in scores.values():
        if isinstance(value, dict) and "why" not in value:
            yield from leaves(value)
        else:
            yield value


# --- the cases ---


def test_disagreements_come_with_their_texts_and_the_judges_reason(sample_page: Element) -> None:
    cases = list(section(sample_page, TITLES["qa"]).all("details", "case"))
    one = next(case for case in cases if case.one("summary").text.startswith("When is Priya Raman's baby due?"))
    assert "People: Hallucination (sample-truth)" in one.text
    assert "Judge: Correct" in one.text
    panels = {panel.one("h4").text: panel.text for panel in one.all("div", "panel")}
    assert list(panels) == ["Question", "Reference", "Evidence", "Response", "The judge's reason"]
    assert "12 July 2027" in panels["Reference"]


def test_the_number_of_disagreements_is_the_confusions_and_what_is_not_shown_is_said(
    sample_page: Element, sample_audit: dict[str, Any]
) -> None:
    for task, title in TITLES.items():
        confusion = judge_of(sample_audit, task)["confusion"]
        different = sum(n for label, row in confusion.items() for other, n in row.items() if other != label)
        if task == "accuracy":  # six more differ in the flag alone
            different += 6
        page = section(sample_page, title)
        cases = list(page.all("details", "case"))
        assert len(cases) == min(different, 20)
        said = (
            f"{different} items, all shown."
            if different <= 20
            else f"{different} items; shown are 20, left out {different - 20}."
        )
        assert said in page.text


def test_wrong_answers_that_passed_come_before_the_rest(sample_page: Element) -> None:
    said = [case.one("summary").text for case in section(sample_page, TITLES["qa"]).all("details", "case")]
    passed = ["wrong, passed" in text for text in said]
    assert passed == sorted(passed, reverse=True)
    assert passed.count(True) == 14
    assert all("Judge: Correct" in text for text, wrong in zip(said, passed, strict=True) if wrong)


def test_texts_of_every_script_take_their_own_direction(sample_page: Element) -> None:
    arabic = [one for one in sample_page.all("p") if re.search("[\u0600-\u06ff]", one.text)]
    assert arabic
    assert all("auto" in (one.attributes.get("dir"), "auto" if list(one.all("bdi")) else None) for one in arabic)
