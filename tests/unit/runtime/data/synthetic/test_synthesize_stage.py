"""The whole stage against a server of this machine."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import Behaviour, ChatServer, Reply, refused, said
from kitchen import KEY, ROOT, SCORE, VARIABLE, Project, endpoint, recipe, row, sieve

from runtime import stage
from runtime.contracts import synthesize
from runtime.data.synthetic.exchange import key_of
from runtime.faults import StageFault

Serve = Callable[[Behaviour], ChatServer]


def number_of(body: dict[str, Any]) -> int:
    """A number that follows from the request alone."""
    return int(body["seed"]) % 1728


def writer(body: dict[str, Any], _number: int) -> Reply:
    """A good row for each request; a judge says 9 of even answers and 4 of odd ones."""
    if "Score: N" in body["messages"][-1]["content"]:
        text = body["messages"][-1]["content"]
        return said(f"Clear enough.\nScore: {9 if int(text.split('answer ')[1].split()[0]) % 2 == 0 else 4}")
    return said(json.dumps(row(number_of(body))))


def test_rows_are_made_from_seeds(project: Project, serve: Serve) -> None:
    server = serve(writer)
    metrics = project.run(recipe(server.url))
    assert metrics["rows"] == len(project.rows()) == 6
    assert metrics["requests"] == {"write": 6, "judge": 0}
    assert [set(one) for one in project.rows()] == [{"instruction", "output"}] * 6
    body = server.seen[0].body
    assert server.seen[0].path == "/v1/chat/completions"
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("writer-1", 1.0, 200)
    assert "top_p" not in body
    shown = body["messages"][1]["content"]
    assert sum(f"What is {word}?" in shown for word in ("dew", "fog", "hail", "rime")) == 2
    assert len({one.body["seed"] for one in server.seen}) == 6


def test_seeds_may_be_an_array_and_compressed(project: Project, serve: Serve) -> None:
    lines = project.root / "data/seeds.jsonl"
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    server = serve(writer)
    project.run(recipe(server.url))
    asked, made = [one.body for one in server.seen], project.rows()
    lines.unlink()
    (project.root / "data/seeds").mkdir()
    (project.root / "data/seeds/a.json").write_text(json.dumps(rows[:2], indent=2), "utf-8")
    (project.root / "data/seeds/b.jsonl.gz").write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows[2:]).encode()))
    shutil.rmtree(project.root / ".mindspec")
    server = serve(writer)
    project.run(recipe(server.url, seeds={"path": "data/seeds", "format": "alpaca"}))
    assert ([one.body for one in server.seen], project.rows()) == (asked, made)


def test_judge_drops_what_is_below_the_threshold(project: Project, serve: Serve) -> None:
    server = serve(writer)
    metrics = project.run(recipe(server.url, score=SCORE))
    assert metrics["rows"] == 6
    assert metrics["dropped"]["low_score"] == metrics["requests"]["judge"] - 6 > 0
    assert {one["score"] for one in project.lines("synthetic/origins/planets.jsonl")} == {9.0}
    judged = [one.body for one in server.seen if "Score: N" in one.body["messages"][-1]["content"]]
    assert {body["temperature"] for body in judged} == {0.0}
    reasons = Counter(one["reason"] for one in project.lines("synthetic/dropped.jsonl"))
    assert reasons == {"low_score": metrics["dropped"]["low_score"]}
    assert all(one["score"] < one["threshold"] == SCORE["threshold"] for one in project.lines("synthetic/dropped.jsonl"))


def test_another_model_judges_with_a_key_of_its_own(project: Project, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = serve(writer), serve(writer)
    monkeypatch.setenv(VARIABLE, KEY)
    project.run(recipe(first.url, score={**SCORE, "generator": endpoint(second.url, model="judge-1")}), api_key_env=VARIABLE)
    assert {one.body["model"] for one in first.seen} == {"writer-1"}
    assert {one.body["model"] for one in second.seen} == {"judge-1"}


def test_concurrency_and_order_of_arrival_change_nothing(project: Project, serve: Serve) -> None:
    def slow(body: dict[str, Any], number: int) -> Reply:
        time.sleep(0.03 * (number % 3 == 0))
        return writer(body, number)

    server = serve(slow)
    trees = []
    for concurrency in (1, 2, 8):
        project.kept.unlink(missing_ok=True)
        project.run(recipe(server.url, count=10, requests_max=60, score=SCORE), concurrency=concurrency)
        trees.append(project.tree())
    assert trees[0] == trees[1] == trees[2]
    assert len(project.rows()) == 10


def test_what_was_answered_is_not_asked_again(project: Project, serve: Serve) -> None:
    server = serve(writer)
    project.run(recipe(server.url, score=SCORE))
    first, asked = project.tree(), len(server.seen)
    project.run(recipe(server.url, score=SCORE))
    assert project.tree() == first
    assert len(server.seen) == asked
    project.run(recipe(server.url, score=SCORE, count=8, requests_max=60))
    assert len(set(server.asked)) == len(server.asked) > asked


def test_an_answer_belongs_to_what_was_asked_of_a_model_and_not_to_where_it_was_asked(project: Project, serve: Serve) -> None:
    first, second = serve(writer), serve(writer)
    project.run(recipe(first.url, score=SCORE))
    before = project.tree()
    project.run(recipe(second.url, score=SCORE))
    assert project.tree() == before and not second.seen
    assert first.url.encode() not in b"".join(before.values()) + (project.folder / "config/synthesize.yaml").read_bytes()
    for change in ({"model": "writer-2"}, {"revision": "march"}, {"temperature": 0.5}, {"max_tokens": 100}):
        known = len(second.seen)
        project.run(recipe(second.url, generator=endpoint(second.url, **change)))
        assert len(second.seen) == known + 6
    assert not any("revision" in one.body for one in second.seen)


def test_answers_that_an_earlier_version_kept_with_their_address_are_still_known(project: Project, serve: Serve) -> None:
    server = serve(writer)
    project.run(recipe(server.url))
    lines = []
    for line in map(json.loads, project.kept.read_text("utf-8").splitlines()):
        request = {**line["request"], "url": "http://127.0.0.1:9/v1"}
        lines.append({**line, "request": request, "key": key_of(request)})
    project.kept.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    asked = len(server.seen)
    project.run(recipe(server.url))
    assert len(server.seen) == asked and len(project.kept.read_text("utf-8").splitlines()) == asked


def test_a_model_without_an_address_is_told_how_to_get_one(project: Project) -> None:
    project.configure(recipe(""))
    (project.folder / "placement.yaml").unlink()
    with pytest.raises(StageFault, match="no base_url") as fault:
        stage.execute(synthesize.CONTRACT)
    assert fault.value.where == "placement.yaml" and "mindspec compile" in fault.value.fix


def test_transcript_of_the_result_gives_the_same_bytes_without_a_network(project: Project, serve: Serve) -> None:
    server = serve(writer)
    project.run(recipe(server.url, score=SCORE))
    first, asked = project.tree(), len(server.seen)
    (project.root / "data/answers.jsonl").write_bytes(first["transcripts/planets.jsonl"])
    project.kept.unlink()
    project.run(recipe(server.url, score=SCORE, transcript="data/answers.jsonl", mode="replay"), api_key_env=VARIABLE)
    assert project.tree() == first
    assert len(server.seen) == asked


def test_replay_refuses_to_ask(project: Project, serve: Serve) -> None:
    server = serve(writer)
    project.run(recipe(server.url))
    lines = project.tree()["transcripts/planets.jsonl"].splitlines(keepends=True)
    (project.root / "data/answers.jsonl").write_bytes(b"".join(lines[:4]))
    project.kept.unlink()
    settings = recipe(server.url, transcript="data/answers.jsonl", mode="replay")
    with pytest.raises(StageFault, match="4 of 6 rows after 4 requests; the transcript has no answer"):
        project.run(settings)
    assert project.run({**settings, "incomplete": "keep"})["ended"] == "replay"
    assert len(project.rows()) == 4
    assert len(server.seen) == 6


def test_rows_that_are_no_good_are_counted_and_replaced(project: Project, serve: Serve) -> None:
    bad = {
        0: said("As a poet I cannot give JSON."),
        1: said(json.dumps({"instruction": "Why?", "output": 7})),
        2: said(json.dumps({**row(5), "output": "As an AI model I must not."})),
        3: said(json.dumps({"instruction": "What is dew?", "input": "", "output": "Water that condensed over night."})),
        4: said(json.dumps(row(3)), finish="length"),
        5: refused(400, "filtered", "content_filter"),
        6: said(json.dumps({"instruction": "Hm", "output": "Ah"})),
        7: said(json.dumps(row(900))),
        8: said(json.dumps({**row(900), "output": "The same question, and another answer to it than before."})),
    }
    server = serve(lambda body, number: bad[number] if number in bad else writer(body, number))
    metrics = project.run(recipe(server.url, count=9))
    assert metrics["dropped"] == {
        "content_filter": 1, "cut_off": 1, "near_a_seed": 1, "near_an_earlier_row": 1, "not_json": 1, "refusal": 1, "too_short": 1,
        "wrong_shape": 1,
    }  # fmt: skip
    assert metrics["rows"] == 9
    assert metrics["requests"]["write"] == 17
    assert {one["reason"] for one in project.lines("synthetic/dropped.jsonl")} == set(metrics["dropped"])
    assert next(one for one in project.lines("synthetic/dropped.jsonl") if one["reason"] == "not_json")["text"].startswith("As a poet")


def test_faults_of_the_endpoint_are_repeated(project: Project, serve: Serve) -> None:
    good = said(json.dumps(row(77)))
    bad = [
        refused(429, Retry_After="0"), refused(500), refused(503), Reply(200, b"<html>busy</html>", {"Content-Type": "text/html"}),
        Reply(200, b'{"choices": []}'), Reply(200, good.data[:40]), Reply(200, good.data, missing=50), Reply(200, b""),
        Reply(200, b'{"choices": [{"message": {"content": null}}]}'), Reply(200, b"[1]"),
    ]  # fmt: skip
    server = serve(lambda body, number: bad[number] if number < len(bad) else writer(body, number))
    metrics = project.run(recipe(server.url), retries=len(bad))
    assert metrics["rows"] == 6
    assert metrics["requests"]["write"] == 6
    assert len(server.seen) == 6 + len(bad)
    repeated = json.loads((project.folder / "timings/synthesize-planets.json").read_text())["repeated"]
    told = {"status_429": 1, "status_500": 1, "status_503": 1, "broken_json": 4, "no_choice": 1, "no_text": 1}
    assert {reason: repeated.pop(reason) for reason in told} == told
    assert sum(repeated.values()) == 1  # the answer whose end was missing
    assert b"timings" not in project.tree()["metrics"]


def test_answer_that_stays_useless_is_dropped_and_not_asked_again(project: Project, serve: Serve) -> None:
    poison: set[str] = set()

    def behaviour(body: dict[str, Any], number: int) -> Reply:
        if number == 2:
            poison.add(json.dumps(body))
        return Reply(200, b"garbage") if json.dumps(body) in poison else writer(body, number)

    server = serve(behaviour)
    assert project.run(recipe(server.url), retries=2)["dropped"] == {"broken_json": 1}
    asked = len(server.seen)
    assert asked == 7 + 2
    project.run(recipe(server.url), retries=2)
    assert len(server.seen) == asked


@pytest.mark.parametrize("status", [301, 302, 400, 401, 402, 403, 404, 422])
def test_refusal_that_waiting_does_not_mend_stops_at_once(project: Project, serve: Serve, status: int) -> None:
    server = serve(lambda body, number: refused(status, f"bad key {KEY}", Location="http://127.0.0.1:9/elsewhere"))
    with pytest.raises(StageFault, match=f"status {status}"):
        project.run(recipe(server.url))
    assert len(server.seen) == 1


def test_busy_endpoint_ends_the_stage_and_what_was_answered_stays(project: Project, serve: Serve) -> None:
    busy = True
    server = serve(lambda body, number: refused(503) if busy and number >= 3 else writer(body, number))
    with pytest.raises(StageFault, match="no answer after 3 attempts: status_503"):
        project.run(recipe(server.url), retries=2)
    assert not (project.folder / "synthetic").exists()
    busy = False
    before = len(server.seen)
    project.run(recipe(server.url), retries=2)
    assert len(server.seen) == before + 3


def test_long_wait_is_told_and_a_short_one_is_waited(project: Project, serve: Serve) -> None:
    wait = "1"
    server = serve(lambda body, number: refused(429, Retry_After=wait) if number == 0 else writer(body, number))
    started = time.monotonic()
    project.run(recipe(server.url, count=1))
    assert time.monotonic() - started >= 1
    project.kept.unlink()
    wait, server = "3600", serve(lambda body, number: refused(429, Retry_After="3600"))
    with pytest.raises(StageFault, match="wait 3600 seconds"):
        project.run(recipe(server.url))


def test_slow_answers_are_given_up(project: Project, serve: Serve) -> None:
    """Two answers never come in time; on a busy machine others may not either, and are asked for again all the same."""
    over = threading.Event()

    def behaviour(body: dict[str, Any], number: int) -> Reply:
        if number < 2:
            over.wait(600)
        return writer(body, number)

    server = serve(behaviour)
    try:
        assert project.run(recipe(server.url, count=2), timeout_seconds=0.5, retries=20)["rows"] == 2
    finally:
        over.set()
    repeated = json.loads((project.folder / "timings/synthesize-planets.json").read_text())["repeated"]
    assert repeated == {"timeout": len(server.seen) - 2} and repeated["timeout"] >= 2


def test_server_that_is_not_there(project: Project) -> None:
    with pytest.raises(StageFault, match="no_connection"):
        project.run(recipe("http://127.0.0.1:9/v1"), retries=1)


def test_chunked_answers_are_read(project: Project, serve: Serve) -> None:
    server = serve(lambda body, number: Reply(200, writer(body, number).data, chunked=True))
    assert project.run(recipe(server.url))["rows"] == 6


def test_key_is_sent_and_written_nowhere(
    project: Project, serve: Serve, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    server = serve(
        lambda body, number: said(json.dumps({**row(number), "output": f"You sent {KEY}, {KEY} and nothing but it, traveller."}))
    )
    project.run(recipe(server.url), api_key_env=VARIABLE)
    assert {one.headers["Authorization"] for one in server.seen} == {f"Bearer {KEY}"}
    assert all(one["output"] == "You sent ***, *** and nothing but it, traveller." for one in project.rows())
    project.kept.unlink()
    refusing = serve(lambda body, number: refused(401, f"Incorrect API key provided: {KEY}"))
    with pytest.raises(StageFault, match=r"Incorrect API key provided: \*\*\*") as fault:
        project.run(recipe(refusing.url), api_key_env=VARIABLE)
    told = capfd.readouterr()
    assert KEY not in f"{fault.value!r} {fault.value} {told}"
    assert KEY.encode() not in project.everything()


def test_no_key_means_no_header_and_a_missing_one_is_told_before_anything_is_asked(
    project: Project, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(writer)
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(StageFault, match=f"environment variable {VARIABLE} is not set"):
        project.run(recipe(server.url), api_key_env=VARIABLE)
    monkeypatch.setenv(VARIABLE, "two words")
    with pytest.raises(StageFault, match="blanks") as fault:
        project.run(recipe(server.url), api_key_env=VARIABLE)
    assert "two words" not in str(fault.value)
    assert not server.seen
    project.run(recipe(server.url))
    assert all("Authorization" not in one.headers for one in server.seen)


PRICED = {"input_price": 10.0, "output_price": 30.0}


def test_budget_is_never_exceeded_and_ends_at_the_same_request(project: Project, serve: Serve) -> None:
    server, trees = serve(writer), []
    for concurrency in (1, 4):
        project.kept.unlink(missing_ok=True)
        settings = recipe(server.url, generator=endpoint(server.url, **PRICED), budget=0.03, incomplete="keep", count=20, requests_max=40)
        metrics = project.run(settings, concurrency=concurrency)
        trees.append(project.tree())
        assert metrics["ended"] == "budget"
        assert 0 < metrics["cost"] <= 0.03
        assert 1 < metrics["rows"] < 20
        assert metrics["tokens"]["input"] == 100 * metrics["requests"]["write"]
    assert trees[0] == trees[1]
    with pytest.raises(StageFault, match="budget"):
        project.run({**settings, "incomplete": "fail"})


def test_answer_that_got_lost_is_counted_at_its_most_in_later_runs_too(project: Project, serve: Serve) -> None:
    server = serve(lambda body, number: Reply(200, b"{", missing=9))
    settings = recipe(server.url, generator=endpoint(server.url, **PRICED), budget=0.05)
    with pytest.raises(StageFault, match="budget would be exceeded"):
        project.run(settings, retries=50)
    asked = len(server.seen)
    assert 1 < asked < 8
    with pytest.raises(StageFault, match="budget"):
        project.run(settings, retries=50)
    assert len(server.seen) - asked <= 1


def test_tokens_that_are_not_counted_cost_their_bound(project: Project, serve: Serve) -> None:
    bare = serve(lambda body, number: said(json.dumps(row(number)), usage={}))
    metrics = project.run(recipe(bare.url, generator=endpoint(bare.url, **PRICED)))
    assert metrics["tokens"] == {"input": 0, "output": 0, "not_counted": 6}
    size = sum(len(message["content"].encode()) for one in bare.seen for message in one.body["messages"])
    assert metrics["cost"] >= size * 10e-6


def test_rates_are_kept(project: Project, serve: Serve) -> None:
    """A request may come late on a busy machine, so that the next one follows at once, but never early."""
    times: list[float] = []

    def behaviour(body: dict[str, Any], number: int) -> Reply:
        times.append(time.monotonic())
        return writer(body, number)

    server, begun = serve(behaviour), time.monotonic()
    project.run(recipe(server.url, count=4), requests_per_minute=600, concurrency=4)
    assert len(times) >= 4
    assert all(when - begun >= 0.1 * number for number, when in enumerate(sorted(times)))


def test_texts_are_made_too(project: Project, serve: Serve) -> None:
    project.seeds(
        [{"body": f"The {word} came early that year, and nobody minded."} for word in ("frost", "rain", "wind")], "data/texts.jsonl"
    )
    server = serve(lambda body, number: said(f"<think>hm</think> {row(number)['output']}\n"))
    settings = recipe(
        server.url,
        kind="text",
        prompt="specs/prompt/write-texts.yaml",
        seeds={"path": "data/texts.jsonl", "format": "jsonl", "field": "body"},
    )
    project.run(settings)
    assert project.rows()[1] == {"text": row(1)["output"]}


def test_languages_are_kept(project: Project, serve: Serve) -> None:
    chinese = {
        "instruction": "为什么天空在白天是蓝色的而在傍晚是红色的？",
        "input": "",
        "output": "因为空气散射短波长的光更多，傍晚时光线穿过更厚的大气。",
    }
    server = serve(lambda body, number: said(json.dumps(chinese)) if number == 2 else writer(body, number))
    assert project.run(recipe(server.url, count=1, requests_max=9, sieve=sieve(languages=["zh"])))["dropped"] == {"language": 2}


def started(project: Project, **environment: str) -> subprocess.Popen[bytes]:
    """The stage as DVC starts it."""
    command = [sys.executable, "-m", "runtime", "synthesize"]
    return subprocess.Popen(command, cwd=project.folder, env={**os.environ, "PYTHONPATH": str(ROOT), **environment}, stderr=subprocess.PIPE)


def test_killed_stage_goes_on_and_pays_nothing_twice(project: Project, serve: Serve) -> None:
    held, go_on, kill = threading.Event(), threading.Event(), True

    def behaviour(body: dict[str, Any], number: int) -> Reply:
        if kill and number == 4:
            held.set()
            go_on.wait(600)
            return refused(500)
        return writer(body, number)

    server = serve(behaviour)
    project.configure(recipe(server.url, count=8), api_key_env=VARIABLE)
    process = started(project, **{VARIABLE: KEY})
    assert held.wait(120)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    go_on.set()
    kill = False
    answered = server.asked[:4]
    with project.kept.open("ab") as file:
        file.write(b'{"key": "half a li')
    second = started(project, **{VARIABLE: KEY})
    _, told = second.communicate(timeout=120)
    assert second.returncode == 0, told.decode()
    assert not set(answered) & set(server.asked[5:])
    assert len(server.asked) == 5 + 4
    assert len(project.rows()) == 8
    assert KEY.encode() not in project.everything() + told


def test_refusal_of_the_program_is_a_message(project: Project, serve: Serve) -> None:
    server = serve(lambda body, number: refused(401, f"no {KEY}"))
    project.configure(recipe(server.url), api_key_env=VARIABLE)
    process = started(project, **{VARIABLE: KEY})
    _, told = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "status 401: no ***" in told.decode()
    assert "Traceback" not in told.decode()
    assert KEY.encode() not in project.everything() + told


def test_proxies_of_the_environment_are_not_taken(project: Project, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert project.run(recipe(serve(writer).url))["rows"] == 6


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda root: (root / "specs/prompt/write-instructions.yaml").write_text("user: say something\n"), "no place for a row"),
        (lambda root: (root / "specs/prompt/write-instructions.yaml").write_text("user: [\n"), "not a prompt"),
        (lambda root: (root / "specs/prompt/write-instructions.yaml").write_text("user: 7\n"), "not a prompt"),
        (lambda root: (root / "data/seeds.jsonl").write_text('{"instruction": "x"}\n'), "no text in 'output'"),
        (lambda root: (root / "data/seeds.jsonl").write_text("{\n"), "not a JSON object"),
        (lambda root: (root / "data/seeds.jsonl").write_text("\n"), "has no row"),
        (
            lambda root: (root / "data/seeds.jsonl").write_text('{"instruction": "x"}\n[]\n' + "{\n" * 20),
            r"(?s)22 faults, the first 10:\ndata/seeds.jsonl:1: no text in 'output'.*:2: a list, not a JSON object.*:10: not a JSON object",
        ),
        (lambda root: (root / "data/seeds.jsonl").unlink(), "neither a file nor a folder"),
    ],
)
def test_faulty_files_are_told_before_anything_is_asked(project: Project, serve: Serve, change: Callable[[Path], Any], told: str) -> None:
    server = serve(writer)
    change(project.root)
    with pytest.raises(StageFault, match=told):
        project.run(recipe(server.url))
    assert not server.seen
