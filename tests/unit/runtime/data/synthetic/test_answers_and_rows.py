"""The parts between an answer and a row: reading, judging, likeness, drawing of seeds, money, transcripts."""

import json
import pickle
import sys
import time
from collections import Counter
from email.utils import formatdate
from pathlib import Path

import pytest
from kitchen import KEY, VARIABLE

from runtime.data.synthetic.endpoint import seconds_to_wait, told_error
from runtime.data.synthetic.exchange import BILLION, Answer, Price, Request
from runtime.data.synthetic.judgement import score_of
from runtime.data.synthetic.likeness import Likeness, contained, shingles
from runtime.data.synthetic.limits import Ledger, Pace, backoff
from runtime.data.synthetic.prompts import Prompt
from runtime.data.synthetic.rows import parsed
from runtime.data.synthetic.secret import Secret
from runtime.data.synthetic.seeds import drawn
from runtime.data.synthetic.transcript import Transcript
from runtime.faults import StageFault
from runtime.terminal import Terminal

ROW = {"instruction": "Why?", "input": "", "output": "Because."}
PLAIN = json.dumps(ROW)


@pytest.mark.parametrize(
    ("content", "rows", "reasons"),
    [
        (PLAIN, 1, []),
        (f"Here you are:\n```json\n{PLAIN}\n```\nEnjoy!", 1, []),
        (f"<think>maybe {{not this}} or {PLAIN}</think>\n{PLAIN}", 1, []),
        (f"[{PLAIN}, {PLAIN}]", 2, []),
        (f"{PLAIN}\n{PLAIN}\n", 2, []),
        ('{"instruction": "Two\nlines?", "output": "Yes"}', 1, []),
        (f"[{PLAIN}, 7]", 1, ["wrong_shape"]),
        ('{"instruction": "Why?", "output": ["a", "b"]}', 0, ["wrong_shape"]),
        ('{"instruction": "Why?"}', 0, ["wrong_shape"]),
        ('{"instruction": " ", "output": "x"}', 0, ["empty"]),
        ('{"instruction": "half \\ud83d", "output": "x"}', 0, ["wrong_shape"]),
        ("no braces at all", 0, ["not_json"]),
        ('{"instruction": "cut off', 0, ["not_json"]),
        ("[" * 100_000, 0, ["not_json"]),
        ("{" * 100_000, 0, ["not_json"]),
        ("", 0, ["not_json"]),
        ("[]", 0, ["not_json"]),
    ],
)
def test_rows_are_found_in_whatever_a_model_says(content: str, rows: int, reasons: list[str]) -> None:
    found, told = parsed("instruct", content)
    assert (len(found), told) == (rows, reasons)


def test_text_is_taken_as_it_is() -> None:
    assert parsed("text", " <think>x</think>\n A tale. {really} \n") == ([{"text": "A tale. {really}"}], [])
    assert parsed("text", "<think>x</think> ") == ([], ["empty"])


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("8", 8), ("Score: 7", 7), ("**Score:** 9", 9), ('{"score": 6.5, "why": "2 faults"}', 6.5), ("I would say 8/10.", 8),
        ("On a scale of 1 to 10, I give it 9 out of 10", 9), ("From 1-10: 4", 4), ("Clarity: 3\nScore: 7", 7), ("评分：８", 8),
        ("我给 9 分", 9), ("打分为 6", 6), ("Score 1-10: 5", 5), ("The rating is 10", 10),
        ("Score: 3\nNo, on second thought.\nScore: 8", 8),
        ("<think>Score: 2</think>Score: 9", 9), ("Score: 11", None), ("Score: 0", None), ("Score: -3", None),
        ("3 of 4 facts are right", None),
        ("good", None), ("", None), ("7, perhaps 8", None),
    ],
)  # fmt: skip
def test_scores_are_read_without_guessing(said: str, score: float | None) -> None:
    assert score_of(said) == score


def test_likeness_is_the_exact_jaccard_similarity() -> None:
    texts = [
        "why is the sky blue at noon",
        "why is the sky red at night",
        "为什么天空是蓝色的呢",
        "为什么天空是红色的呢",
        "hm",
        "",
        "a b c d e f g h i",
    ]
    index = Likeness(2)
    for text in texts[:-1]:
        index.add(text)
    for text in ["why is the sky blue at night", "为什么天空是蓝色的", "hm", "nothing alike whatever"]:
        own = shingles(text, 2)
        exact = [len(own & shingles(other, 2)) / len(own | shingles(other, 2)) for other in texts[:-1]]
        best = max(exact)
        assert index.nearest(text) == ((best, exact.index(best)) if best else (0.0, -1))


def test_share_of_a_row_that_its_prompt_holds() -> None:
    assert contained("one two three four", "zero one two three four five", 3) == 1.0
    assert contained("one two three nine", "zero one two three four five", 3) == 0.5


def test_drawn_seeds_are_different_and_all_of_them_come() -> None:
    draws = [drawn(7, 3, 1, "seeds", "x", number) for number in range(400)]
    assert all(len(set(draw)) == 3 for draw in draws)
    counts = Counter(index for draw in draws for index in draw)
    assert set(counts) == set(range(7))
    assert max(counts.values()) < 1.3 * min(counts.values())
    assert sorted(drawn(3, 9, 1, "x")) == [0, 1, 2]


def test_what_is_put_into_a_prompt_is_not_read_again() -> None:
    prompt = Prompt("Rows: {examples} and {unknown} and {seed}", None)
    (message,) = prompt.filled({"examples": "{seed} {x}", "seed": "S"})
    assert message == {"role": "user", "content": "Rows: {seed} {x} and {unknown} and S"}


def test_money_is_reserved_before_it_is_spent() -> None:
    ledger = Ledger(100)
    assert ledger.admit(60)
    assert not ledger.admit(60)
    ledger.settle(60, 10)
    assert ledger.admit(90)
    assert not ledger.admit(1)
    assert Ledger(None).admit(10**30)


def test_cost_is_that_of_the_tokens_and_their_bound_where_they_are_not_told() -> None:
    request = Request({"messages": [{"role": "user", "content": "天" * 100}]})
    price = Price(3.0, 15.0)
    assert price.of(request, Answer("x", None, None, 1000, 100), 500) == (1000 * 3 + 100 * 15) * BILLION // 10**6
    assert price.most(request, 500) == (332 * 3 + 500 * 15) * 1000
    assert price.of(request, Answer("abc"), 500) == (332 * 3 + 3 * 15) * 1000


def test_no_minute_holds_more_than_the_rates() -> None:
    now, sent = 0.0, []

    def pause(seconds: float) -> None:
        nonlocal now
        now += seconds

    pace = Pace(requests=120, tokens=6000, clock=lambda: now)
    for tokens in (10, 10, 100, 10, 10):
        pace.wait(tokens, pause)
        sent.append(round(now, 6))
    assert sent == [0.0, 0.5, 1.0, 2.0, 2.5]


def test_waiting_doubles_up_to_a_minute() -> None:
    assert [backoff(attempt, 1.0) for attempt in (0, 1, 2, 50)] == [0.5, 1.0, 2.0, 60.0]
    assert backoff(3, 0.0) == 2.0


def test_time_to_wait_is_read_from_seconds_and_dates() -> None:
    assert seconds_to_wait("7") == 7.0
    assert seconds_to_wait(None) is seconds_to_wait("soon") is None
    due = time.time() + 60
    assert 60 >= (seconds_to_wait(formatdate(due, usegmt=True)) or 0) >= due - 1 - time.time()
    assert seconds_to_wait(formatdate(time.time() - 60, usegmt=True)) == 0.0


def test_errors_of_several_shapes_are_understood() -> None:
    assert told_error(b'{"error": {"message": "m", "code": "c"}}') == ("c", "m")
    assert told_error(b'{"error": "plain"}') == ("", "plain")
    assert told_error(b'{"detail": "d"}') == ("", "d")
    assert told_error(b"<html>") == ("", "<html>")


def test_key_shows_itself_to_the_header_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f" {KEY}\n")
    secret = Secret.from_environment(VARIABLE)
    assert secret.header == {"Authorization": f"Bearer {KEY}"}
    assert KEY not in f"{secret} {secret!r} {[secret]} {secret.hide(f'x {KEY} y')}"
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert Secret.from_environment(None).header == {}


def opened(path: Path, given: Path | None = None) -> Transcript:
    return Transcript(path, given, Terminal(sys.stderr))


def test_transcript_keeps_answers_and_lets_go_of_half_a_line(tmp_path: Path) -> None:
    requests = [Request({"messages": [], "seed": number}) for number in range(3)]
    with opened(tmp_path / "t.jsonl") as transcript:
        transcript.add(requests[0], Answer("天"))
        transcript.lose(requests[1], 7)
    whole = (tmp_path / "t.jsonl").read_bytes()
    (tmp_path / "t.jsonl").write_bytes(whole + b'{"key": "ha')
    with opened(tmp_path / "t.jsonl") as transcript:
        assert transcript.answer(requests[0]) == Answer("天")
        assert transcript.answer(requests[1]) is None
        assert transcript.lost == 7
        transcript.add(requests[2], Answer(trouble="cut_off", output_tokens=3))
        assert transcript.answer(requests[2]) == Answer(trouble="cut_off", output_tokens=3)
    with opened(tmp_path / "t.jsonl") as transcript:
        assert transcript.answer(requests[2]) == Answer(trouble="cut_off", output_tokens=3)
    assert (tmp_path / "t.jsonl").read_bytes().startswith(whole)
    assert len((tmp_path / "t.jsonl").read_bytes().splitlines()) == 3


@pytest.mark.parametrize("damage", [b"nonsense\n", b"{}\n", b'{"key": "0", "request": {}, "answer": {"content": "x"}}\n', b"[]\n"])
def test_damaged_transcript_is_told_at_its_line(tmp_path: Path, damage: bytes) -> None:
    request = Request({"messages": []})
    with opened(tmp_path / "own.jsonl") as transcript:
        transcript.add(request, Answer("x"))
    (tmp_path / "given.jsonl").write_bytes((tmp_path / "own.jsonl").read_bytes() + damage)
    with pytest.raises(StageFault) as fault:
        opened(tmp_path / "other.jsonl", tmp_path / "given.jsonl")
    assert fault.value.where.endswith("given.jsonl:2")


def test_answers_that_were_given_are_read_and_not_written(tmp_path: Path) -> None:
    request = Request({"messages": []})
    with opened(tmp_path / "given.jsonl") as transcript:
        transcript.add(request, Answer("x"))
    before = (tmp_path / "given.jsonl").read_bytes()
    with opened(tmp_path / "own.jsonl", tmp_path / "given.jsonl") as transcript:
        assert transcript.answer(request) == Answer("x")
        transcript.add(Request({"messages": []}, 1), Answer("y"))
    assert (tmp_path / "given.jsonl").read_bytes() == before
