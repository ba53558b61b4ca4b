"""The command: what it says, what it prints as JSON, how it ends; keys come from the environment alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from judges.backends.prices import Price, load_prices
from judges.setup import require_name
from store.errors import UsageError
from store.study import Study, now
from tests.commands import Overread
from tests.judging.chat_server import Reply, always, serving
from tests.judging.conftest import make_study, rows


@pytest.fixture
def study(tmp_path: Path) -> Path:
    return make_study(tmp_path, rows(6))


def test_a_dry_run_says_calls_tokens_and_cost_and_calls_nobody(study: Path, overread_cli: Overread) -> None:
    with serving(always("CORRECT")) as server:
        said = overread_cli(
            "--study", study, "judge", "--model", "gpt-4o", "--base-url", server.url, "--dry-run", "--json",
            "--repeat", "2", "--samples", "3",
        )  # fmt: skip
        assert server.count == 0
    [found] = said.json()["dry_run"]
    assert (found["slots"], found["before"], found["calls"]) == (12, 0, 36)
    assert 0 < found["cost"] < found["cost_at_most"]
    price = said.json()["price"]
    assert (price["input"], price["output"]) == (2.5, 10.0) and price["as_of"] and "published" in price["source"]


@pytest.mark.slow
def test_a_run_prints_json_alone_and_the_audit_knows_the_judge(study: Path, overread_cli: Overread) -> None:
    with serving(always("CORRECT")) as server:
        done = overread_cli("--study", study, "judge", "--model", "org/my-model", "--base-url", server.url, "--json")
    [run] = done.json()["runs"]
    assert (run["judge"], run["judged"], run["requests"], run["cost"]) == ("my-model", 6, 6, None)
    audit = overread_cli("--study", study, "audit", "--json").json()
    assert audit["tasks"]["qa"]["judges"]["my-model"]["raw_agreement"]["value"] == 0.5
    assert overread_cli("--study", study, "doctor").exit_code == 0


@pytest.mark.slow
def test_the_key_comes_from_the_environment_and_is_nowhere_in_the_study(study: Path, overread_cli: Overread) -> None:
    refused = overread_cli("--study", study, "judge", "--model", "m")
    assert refused.exit_code == 1 and "no key in OPENAI_API_KEY" in refused.stderr
    with serving(lambda request: Reply({"error": {"message": "bad key"}}, 401)) as server:
        wrong = overread_cli(
            "--study", study, "judge", "--model", "gpt-4o", "--base-url", server.url, "--key-env", "MY_KEY",
            env={"MY_KEY": "sk-very-secret"},
        )  # fmt: skip
        assert server.count == 1
    assert wrong.exit_code == 1 and "valid key" in wrong.stderr
    assert "0 judged; 1 requests, 0 tokens in, 0 out, $0.0000\n" in wrong.stdout, "what was never sent costs nothing"
    for file in study.parent.iterdir():
        assert b"sk-very-secret" not in file.read_bytes()


@pytest.mark.slow
def test_a_cap_needs_a_price_and_ends_the_run_with_no(study: Path, overread_cli: Overread) -> None:
    with serving(always("CORRECT")) as server:
        base = ("--study", study, "judge", "--model", "mine", "--base-url", server.url)
        unknown = overread_cli(*base, "--max-cost", "1")
        assert unknown.exit_code == 2 and "Nobody knows what 'mine' costs" in unknown.stderr
        assert '"mine" = { input = 1.0, output = 2.0 }' in unknown.stderr and "prices.toml" in unknown.stderr
        prices = study.with_name("prices.toml")
        prices.write_text("[models]\nmine = { input = 1.0, output = 10.0 }\n", encoding="utf-8")
        capped = overread_cli(*base, "--prices", prices, "--max-cost", "0.009", "--max-tokens", "100", "--json")
        assert capped.exit_code == 1
        [run] = capped.json()["runs"]
        assert run["outcome"] == "cap" and 0 < run["cost"] <= 0.009
        assert run["judged"] + run["left"] == 6
        prices.write_text("[models]\nmine = { input = -1.0 }\n", encoding="utf-8")
        assert "prices.toml is no table of prices" in overread_cli(*base, "--prices", prices).stderr


@pytest.mark.slow
def test_two_judges_are_compared_without_a_call(study: Path, overread_cli: Overread) -> None:
    with serving(always("CORRECT")) as server:
        overread_cli("--study", study, "judge", "--model", "a", "--base-url", server.url)
        server.script = always("INCORRECT")
        drift = overread_cli("--study", study, "judge", "--model", "b", "--base-url", server.url, "--drift", "a")
        assert drift.exit_code == 0 and "same label on 0 of 6 items" in drift.stdout
    compared = overread_cli("--study", study, "judge", "--compare", "a", "b", "--json").json()["comparison"]["qa"]
    assert (compared["both"], compared["same"], compared["right_before"], compared["right_after"]) == (6, 0, 3, 3)
    nobody = overread_cli("--study", study, "judge", "--compare", "a", "zzz")
    assert nobody.exit_code == 2 and "no judge 'zzz'" in nobody.stderr
    same = overread_cli("--study", study, "judge", "--compare", "a", "a")
    assert same.exit_code == 2 and "not compared with itself" in same.stderr


@pytest.mark.slow
def test_drift_asks_again_and_only_where_there_is_something_to_tell(study: Path, overread_cli: Overread) -> None:
    with serving(always("CORRECT")) as server:
        base = ("--study", study, "judge", "--model", "a", "--base-url", server.url)
        overread_cli(*base)
        server.script = always("INCORRECT")
        nobody = overread_cli(*base, "--drift", "zzz")
        assert (nobody.exit_code, server.count) == (2, 6) and "no judge 'zzz'" in nobody.stderr
        drift = overread_cli(*base, "--drift", "a", "--json").json()
        [run], found = drift["runs"], drift["drift"]["qa"]
        assert run["judge"] == found["after"] == f"a on {now():%Y-%m-%d}" and found["before"] == "a"
        assert (server.count, found["both"], found["same"]) == (12, 6, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Which model"),
        (["--model", "  "], "--model is blank"),
        (["--model", "m", "--items", "some"], "--items some"),
        (["--model", "m", "--format", "xml"], "--format xml"),
        (["--model", "m", "--task", "nope"], "no task 'nope'"),
        (["--model", "m", "--language", "fr", "--base-url", "http://127.0.0.1:9/v1"], "no rubric of qa in 'fr'"),
    ],
)
def test_what_cannot_work_is_told(study: Path, overread_cli: Overread, arguments: list[str], words: str) -> None:
    done = overread_cli("--study", study, "judge", *arguments)
    assert done.exit_code == 2 and words in done.stderr


@pytest.mark.parametrize("name", [" ", "a\nb", "\x1b[31mred", "x" * 201])
def test_a_name_that_can_be_none_is_refused_and_blanks_around_it_are_none_of_it(name: str) -> None:
    with pytest.raises(UsageError, match="--model is") as refused:
        require_name("--model", name)
    assert len(str(refused.value)) < 200
    assert require_name("--model", " gpt-4o ") == "gpt-4o" and require_name("--name", "") == ""


def test_a_price_is_that_of_the_very_model_and_the_users_own_stands_first(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text('as_of = 2026-11-01\n[models]\n"gpt-4o" = { input = 1, output = 2 }\n', encoding="utf-8")
    table = load_prices(own)
    assert (table.price_of("gpt-4o-2024-08-06"), table.origin_of("gpt-4o")) == (
        Price(1, 2),
        ("mine.toml", "2026-11-01"),
    )
    [mini, haiku] = [table.price_of(name) for name in ("gpt-4o-mini", "claude-haiku-4-5-20251001")]
    assert mini is not None and (mini.input, mini.output) == (0.15, 0.6) and table.origin_of("o4-mini")[1] == "2025"
    assert haiku is not None and (haiku.input, haiku.output) == (1.0, 5.0)
    assert "provider's page" in table.origin_of("claude-haiku-4-5")[0]
    assert table.price_of("gpt-5-latest") == Price(1.25, 10)
    for dearer in ("gpt-5-pro", "o3-deep-research", "gpt-4o:ft-mine", "my-gpt-4o"):
        assert table.price_of(dearer) is None, "a cap must not trust the price of a cheaper model"


@pytest.mark.slow
def test_rubrics_are_journaled_and_survive_a_lost_database(study: Path, overread_cli: Overread) -> None:
    with serving(always("CORRECT")) as server:
        overread_cli("--study", study, "judge", "--model", "m", "--base-url", server.url)
    with Study.open(study) as opened:
        before = opened.rows("SELECT task, version, texts FROM judge_rubrics")
    assert len(before) == 1
    study.unlink()
    assert overread_cli("--study", study, "doctor", "--rebuild").exit_code == 0
    with Study.open(study) as opened:
        assert opened.rows("SELECT task, version, texts FROM judge_rubrics") == before


@pytest.mark.slow
def test_an_edited_rubric_is_a_new_version_and_another_judge(study: Path, overread_cli: Overread) -> None:
    editor = study.with_name("editor.py")
    editor.write_text(
        "import pathlib, sys\np = pathlib.Path(sys.argv[1])\n"
        "p.write_text(p.read_text('utf-8') + 'Read {response}. Be kind.\\n', encoding='utf-8')\n",
        encoding="utf-8",
    )
    with serving(always("CORRECT")) as server:
        run = ("--study", study, "judge", "--model", "m", "--base-url", server.url)
        overread_cli(*run)
        edited = overread_cli("--study", study, "rubric", "--edit", env={"EDITOR": f"{sys.executable} {editor}"})
        assert edited.exit_code == 0 and edited.stdout.rstrip().endswith("Read {response}. Be kind.")
        assert "{response} will stand as it is" in edited.stderr
        overread_cli(*run)
        assert server.count == 12
        assert "Be kind." in server.requests[-1].body["messages"][0]["content"]
    versions = overread_cli("--study", study, "rubric", "--json").json()["versions"]
    assert [one["origin"] for one in versions] == ["benchmark", "edited"]
    with Study.open(study) as opened:
        assert opened.rows("SELECT name, count(DISTINCT prompt_version) FROM judges GROUP BY name ORDER BY name") == [
            ("m", 1),
            ("m (2)", 1),
        ]
    assert overread_cli("--study", study, "rubric", "--edit").exit_code == 2, "no editor"
    empty = study.with_name("empty.md")
    empty.write_text("  \n", encoding="utf-8")
    assert "is empty" in overread_cli("--study", study, "rubric", "--file", empty).stderr
    # A retuned rubric says where the judge errs: it is closed to whoever is in the middle of a queue.
    done = overread_cli("--study", study, "label", "--plain", "--annotator", "ann", stdin="c\n")
    assert done.exit_code == 0 and "1 of" in done.stdout, done
    asked = ("--study", study, "rubric", "--plain", "--annotator", "ann")
    closed = overread_cli(*asked)
    assert closed.exit_code == 2 and "in the middle of a queue" in closed.stderr and not closed.stdout
    assert overread_cli(*asked, "--as", "lead").exit_code == 0
