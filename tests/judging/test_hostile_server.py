"""A judge's server that means harm, or is not what it says: nothing goes elsewhere, nothing leaks, nothing crashes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judges.backends import http_client
from judges.backends.answer import MOST_NAME, MOST_TEXT, OVERLONG, ServerUnusableError, short_name
from judges.backends.chat import retry_after
from judges.backends.embedding import EmbeddingBackend, _embedded
from judges.backends.http_client import shown_address
from store.study import Study
from tests.commands import Overread
from tests.judging.chat_server import Reply, completion, serving, verdict
from tests.judging.conftest import make_study, rows
from tests.judging.judge_runs import fates, judge

pytestmark = pytest.mark.slow

KEY = "sk-proj-thisIsASecret0123456789"


def answer(**more: Any) -> dict[str, Any]:
    """A good completion with other members."""
    return {**completion(verdict("CORRECT")), **more}


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed_and_its_address_is_told_without_its_password(ten: Study, status: int) -> None:
    with serving(lambda _: Reply(answer())) as other:
        elsewhere = f"http://me:pass@localhost:{other.port}/v1/chat/completions?key=1"
        with serving(lambda _: Reply({}, status=status, headers={"location": elsewhere})) as server:
            result = judge(ten, server)
        assert other.requests == []
    assert result.outcome == "unusable" and fates(ten) == {}
    assert result.error is not None and "elsewhere" in result.error.title
    assert result.error.detail == f"http://localhost:{other.port}/v1/chat/completions"


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_without_an_end_is_given_up(ten: Study, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    monkeypatch.setattr(http_client, "MOST_BYTES", 100_000)
    body = json.dumps(answer()).encode() + b" " * 200_000
    more = {"content-encoding": "gzip"} if packed else {}
    with serving(lambda _: Reply(raw=gzip.compress(body) if packed else body, headers=more)) as server:
        result = judge(ten, server, retries=1)
    assert result.error is not None and result.error.detail == "The server's response has no end."


def test_an_answer_that_goes_on_and_on_is_kept_in_part_and_is_no_verdict(ten: Study) -> None:
    reason = "y" * (MOST_TEXT + 100)
    with serving(lambda _: Reply(completion(verdict("CORRECT", reason), refusal=None))) as server:
        result = judge(ten, server)
        assert (result.outcome, fates(ten), server.count) == ("done", {"(truncated)": 10}, 10)
    assert ten.rows("SELECT DISTINCT length(raw), length(rationale), finish_reason FROM verdicts JOIN calls"
                    " USING (verdict_id)") == [(MOST_TEXT, 0, OVERLONG)]  # fmt: skip


@pytest.mark.parametrize("status", [200, 400, 401, 404, 500])
def test_a_key_that_the_server_repeats_is_in_no_message_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    body: dict[str, Any] = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": KEY}}
    if status == 200:
        body = {**completion(verdict("CORRECT", f"Your key is {KEY}"), model=KEY, fingerprint=KEY)}
    with serving(lambda _: Reply(body, status=status)) as server, Study.open(make_study(tmp_path, rows(4))) as study:
        error = judge(study, server, retries=1).error
    assert (status == 200) == (error is None)
    assert error is None or KEY not in f"{error.title}{error.detail}{error.hint}"
    assert [file.name for file in tmp_path.iterdir() if KEY.encode() in file.read_bytes()] == []


@pytest.mark.parametrize(
    "data",
    [
        answer(usage={"prompt_tokens": 10**400, "completion_tokens": -1}),
        answer(choices=[{**answer()["choices"][0], "logprobs": {"content": [{"token": "a", "logprob": 10**400}]}}]),
        answer(model="\x1b]52;c;QQ\x07\ud83d\x00", system_fingerprint="\u202e[@click=app.quit]x"),
        completion(verdict("CORRECT", "\x1b]52;c;QQ\x07\ud83d\x00\u202e")),
    ],
    ids=["tokens", "probabilities", "names", "reason"],
)  # fmt: skip
def test_odd_numbers_and_names_beside_a_verdict_do_not_lose_it(ten: Study, data: Any) -> None:
    with serving(lambda _: Reply(data)) as server:
        result = judge(ten, server)
    assert (result.outcome, fates(ten)) == ("done", {"CORRECT": 10})
    assert result.state.tokens_in in (0, 10_000)


def test_a_name_without_an_end_is_cut_and_two_such_stay_two(ten: Study) -> None:
    with serving(lambda _: Reply(completion(verdict("CORRECT"), model="m" * 100_000, fingerprint="  "))) as server:
        judge(ten, server)
    [(model, fingerprint)] = ten.rows("SELECT DISTINCT served_model, fingerprint FROM calls")
    assert model.startswith("mmm") and len(model) == MOST_NAME and fingerprint == ""
    assert short_name("m" * 100_000) != short_name("m" * 100_001)


def test_a_date_beyond_all_dates_asks_for_no_pause() -> None:
    assert retry_after({"retry-after": "Mon, 01 Jan 99999999999 00:00:00 GMT"}) == 0.0


@pytest.mark.parametrize(
    "address", ["localhost:1/v1", "file:///etc/passwd", "http://[::1", "http://a:99999/v1", "http://"]
)
def test_what_is_no_address_is_told_at_once(tmp_path: Path, overread_cli: Overread, address: str) -> None:
    study = make_study(tmp_path, rows(1))
    told = overread_cli("--study", study, "judge", "--model", "m", "--items", "all", "--base-url", address)
    assert told.exit_code == 1 and "no address" in told.stderr, told


@pytest.mark.parametrize("key", ["clé", "\x1b]52;c;QQ\x07", "two\nlines"])
def test_what_can_be_no_key_is_told_and_not_shown(monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("OVERREAD_TEST_KEY", key)
    with pytest.raises(ServerUnusableError) as raised:
        EmbeddingBackend("m", base_url="http://127.0.0.1:1/v1", key_variable="OVERREAD_TEST_KEY")
    assert key not in f"{raised.value.title}{raised.value.detail}{raised.value.hint}"


def test_an_address_is_shown_without_its_password() -> None:
    assert shown_address("https://me:secret@host:81/v1/?key=secret#x") == "https://host:81/v1/"


def _bodies() -> Iterator[Any]:
    good = {"data": [{"index": 0, "embedding": [1.0]}]}
    yield {"data": [{"index": 0, "embedding": [10**400]}]}
    yield {"data": [{"index": 0, "embedding": [float("nan")]}]}
    yield {"data": [{"index": 0, "embedding": ["x"]}]}
    yield [good]


@pytest.mark.parametrize("body", list(_bodies()))
def test_an_embedding_that_is_none_may_be_asked_for_again(body: Any) -> None:
    from judges.backends.chat import Transient

    with pytest.raises(Transient):
        _embedded(json.dumps(body).encode(), 1)


def test_odd_counts_and_names_beside_an_embedding_do_not_lose_it() -> None:
    good = {"data": [{"index": 0, "embedding": [1]}]}
    for usage in ("x", {"prompt_tokens": "many"}, {"prompt_tokens": -1}, None):
        found = _embedded(json.dumps({**good, "usage": usage, "model": ["m"]}).encode(), 1)
        assert found == ([[1.0]], 0, "")


def test_a_batch_file_never_replaces_the_study_and_damaged_ones_are_told(
    tmp_path: Path, overread_cli: Overread
) -> None:
    study = make_study(tmp_path, rows(1))
    told = overread_cli("--study", study, "judge", "--model", "m", "--items", "all", "--batch-out", study)
    assert told.exit_code == 2 and "part of the study" in told.stderr, told
    assert study.read_bytes()[8:12] == b"DUCK"
    file = tmp_path / "out.jsonl"
    lines = [
        '{"custom_id": "a", "response": {"status_code": Infinity, "body": {}}}', '{"custom_id": "a"', "[" * 5000,
        '{"custom_id": "a", "error": "x"}', "\x00\x1b]52;c;QQ\x07", "7", '{"custom_id": {"x": 1}, "response": {}}',
    ]  # fmt: skip
    file.write_text("\n".join(lines), encoding="utf-8")
    told = overread_cli("--study", study, "judge", "--batch-in", file)
    assert told.exit_code == 1 and "unexpected" not in told.stderr and "\x1b" not in told.stderr, told
    assert told.stderr.count("out.jsonl:") == len(lines), told
