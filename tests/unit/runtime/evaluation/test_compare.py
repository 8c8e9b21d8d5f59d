"""`compare` and `gate` in a project: files read, files written, messages, exit codes."""

import html.parser
import json
import re
import subprocess
import sys

import pytest
import yaml

from runtime.__main__ import main

METRICS = {
    "evaluator": 1,
    "dtype": "float32",
    "prompt_sha256": "p",
    "tokenizer_sha256": "t",
    "text_sha256": "v",
    "held_out_sha256": "h",
    "base": {"perplexity": 60.0, "bits_per_byte": 2.1},
    "merged": {
        "perplexity": 50.0,
        "bits_per_byte": 2.0,
        "exact_match": 0.5,
        "core": {"cases": 4, "answer_loss": 1.5, "groups": {"poems": {"cases": 4, "exact_match": 0.5}}},
    },
}
TOLERANCE = {"bits_per_byte": {"relative": 0.01}, "exact_match": {"absolute": 0.0}}


def changed(**values):
    return {**METRICS, "merged": {**METRICS["merged"], **values}}


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_params({"experiments": ["demo", "other"], "baseline": "demo", "gate": True})
    write_experiment(tmp_path, "demo", METRICS)
    write_experiment(tmp_path, "other", METRICS)
    return tmp_path


def write_params(content):
    with open("params.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump(content, file)


def write_experiment(root, name, metrics):
    folder = root / "experiments" / name
    (folder / "metrics").mkdir(parents=True, exist_ok=True)
    (folder / "config").mkdir(exist_ok=True)
    text = metrics if isinstance(metrics, str) else json.dumps(metrics)
    (folder / "metrics" / "evaluate.json").write_text(text, "utf-8")
    (folder / "record.json").write_text(
        json.dumps({"data_version": {"sha256": f"data-{name}"}, "model_version": {"steps": 3}, "evaluation": {}}), "utf-8"
    )
    (folder / "config" / "compare.yaml").write_text(yaml.safe_dump({"baseline": None, "gate": False, "tolerance": TOLERANCE}), "utf-8")


def test_equal_experiments_pass_and_both_files_are_written(project, capsys):
    assert main(["compare"]) == 0
    written = json.loads((project / "comparison.json").read_text("utf-8"))
    assert written["passes"] is True
    assert [entry["name"] for entry in written["experiments"]] == ["demo", "other"]
    cell = written["experiments"][1]["metrics"]["bits_per_byte"]
    assert cell == {"direction": "lower", "value": 2.0, "verdict": "same", "baseline": 2.0, "delta": 0.0, "relative": 0.0, "allowed": 0.02}
    assert written["experiments"][1]["data_version"] == {"sha256": "data-other"}
    assert "bits_per_byte" in capsys.readouterr().out
    assert main(["gate"]) == 0


def test_a_regression_fails_the_gate_but_not_the_comparison(project, capsys):
    write_experiment(project, "other", changed(exact_match=0.25))
    assert main(["compare"]) == 0
    assert main(["gate"]) == 1
    printed = capsys.readouterr()
    assert "exact_match (worse)" in printed.err
    assert "-50.00%" in printed.out


def test_a_regression_without_a_gate_is_shown_and_passes(project):
    write_params({"experiments": ["other"], "baseline": "demo", "gate": False})
    write_experiment(project, "other", changed(exact_match=0.25))
    assert main(["compare"]) == 0
    assert main(["gate"]) == 0


def test_compare_itself_fails_on_a_regression_when_it_is_asked_to_be_the_gate(project):
    write_params({"experiments": ["other"], "baseline": "demo", "gate": False})
    write_experiment(project, "other", changed(exact_match=0.25))
    assert main(["compare", "--no-write"]) == 0
    assert main(["compare", "--no-write", "--gate"]) == 1
    assert main(["compare", "--no-write", "--gate", "--baseline", "demo", "--experiments", "demo", "other"]) == 1
    assert main(["compare", "--no-write", "--baseline", "other", "--gate", "--experiments", "demo"]) == 0


@pytest.mark.parametrize("arguments", [["demo"], ["demo", "--baseline", "demo"]])
def test_a_gate_with_nothing_to_compare_is_refused(project, capsys, arguments):
    assert main(["compare", "--no-write", "--gate", "--experiments", *arguments]) == 1
    assert "the gate has nothing to compare with" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["experiments/demo/metrics/evaluate.json", "experiments/demo/record.json", "params.yaml"])
@pytest.mark.parametrize("content", ["[" * 100_000, "a: 2021-13-45", "\xff"])
def test_a_file_that_no_reader_can_read_is_refused(project, capsys, name, content):
    (project / name).write_bytes(content.encode("latin-1"))
    assert main(["compare", "--no-write"]) == 1
    assert name in capsys.readouterr().err


def test_the_comparison_is_the_same_bytes_every_time(project):
    assert main(["compare"]) == 0
    first = [(project / name).read_bytes() for name in ("comparison.json", "comparison.html")]
    assert main(["compare"]) == 0
    assert first == [(project / name).read_bytes() for name in ("comparison.json", "comparison.html")]


def test_command_line_names_two_experiments_and_writes_nothing(project, capsys):
    assert main(["compare", "--experiments", "other", "--baseline", "demo", "--json", "--no-write"]) == 0
    assert [entry["name"] for entry in json.loads(capsys.readouterr().out)["experiments"]] == ["other"]
    assert not (project / "comparison.json").exists()


def test_a_baseline_file_goes_before_an_experiment_of_its_name(project):
    (project / "baselines").mkdir()
    content = {"evaluate": changed(bits_per_byte=1.0), "record": {"data_version": "old"}}
    (project / "baselines" / "demo.json").write_text(json.dumps(content), "utf-8")
    write_params({"experiments": ["other"], "baseline": "demo", "gate": False})
    assert main(["compare"]) == 0
    written = json.loads((project / "comparison.json").read_text("utf-8"))
    assert written["experiments"][0]["metrics"]["bits_per_byte"]["verdict"] == "worse"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"acc": ,}', "not JSON"),
        (json.dumps(changed(exact_match="0.70")), "exact_match is '0.70'"),
        (json.dumps(changed(exact_match=True)), "exact_match is True"),
        (json.dumps(METRICS).replace("50.0", "NaN"), "NaN is not a JSON number"),
        (json.dumps(METRICS).replace("50.0", "1e999"), "perplexity is inf"),
        ("[]", "not a mapping"),
        ("{}", "merged is not a mapping"),
    ],
)
def test_a_metrics_file_that_is_wrong_is_named(project, capsys, content, message):
    write_experiment(project, "other", content)
    assert main(["compare"]) == 1
    error = capsys.readouterr().err
    assert "experiments/other/metrics/evaluate.json" in error
    assert message in error
    assert "Traceback" not in error
    assert not (project / "comparison.json").exists()


def test_a_value_that_was_not_finite_is_shown_with_its_reason(project, capsys):
    write_experiment(project, "other", changed(perplexity=None, perplexity_reason="overflow"))
    assert main(["compare", "--json"]) == 0
    cell = json.loads(capsys.readouterr().out)["experiments"][1]["metrics"]["perplexity"]
    assert cell["value"] is None
    assert cell["verdict"] == "not comparable"
    assert cell["reason"] == "not finite in other: overflow"
    assert "not finite in other: overflow" in (project / "comparison.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"experiments": []}, "experiments is []"),
        ({"experiments": ["demo"], "baseline": 12}, "baseline is 12"),
        ({"experiments": ["demo"], "gate": "yes"}, "gate is 'yes'"),
        ({"experiments": ["none"]}, "experiments/none/record.json does not exist"),
        ({"experiments": ["demo"], "baseline": "none"}, "neither an experiment nor baselines/none.json"),
    ],
)
def test_a_wrong_selection_is_named(project, capsys, params, message):
    write_params(params)
    assert main(["compare"]) == 1
    assert message in capsys.readouterr().err


def test_a_tolerance_of_an_unknown_metric_is_refused(project, capsys):
    (project / "experiments" / "demo" / "config" / "compare.yaml").write_text("tolerance: {bits_per_bite: {relative: 0.1}}\n", "utf-8")
    assert main(["compare"]) == 1
    assert "experiments/demo/config/compare.yaml: tolerance of an unknown metric 'bits_per_bite'" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, "{", "[" * 100_000, '{"experiments": [{}]}', '{"experiments": []}'])
def test_a_gate_without_a_comparison_is_refused(project, capsys, content):
    if content is not None:
        (project / "comparison.json").write_text(content, "utf-8")
    assert main(["gate"]) == 1
    assert "comparison.json" in capsys.readouterr().err


class Page(html.parser.HTMLParser):
    """Counts open and closed elements, and collects links."""

    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attributes):
        self.links += [value for key, value in attributes if key in ("href", "src")]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_well_formed_self_contained_and_shows_every_verdict(project):
    write_experiment(project, "other", {**changed(exact_match=0.25), "tokenizer_sha256": "<b>"})
    assert main(["compare"]) == 0
    text = (project / "comparison.html").read_text("utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"https?://|<script|@import|url\(", text)
    for shown in ("worse", "same", "not comparable", "another tokenizer", "-0.25 (-50.00%)", "Gate:"):
        assert shown in text


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_full_disk_and_a_reader_that_has_seen_enough(project, arguments):
    command = [sys.executable, "-m", "runtime", "compare", "--no-write", *arguments]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "mindspec: compare: No space left on device\n")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as closed:
        closed.stdout.close()
        assert "Traceback" not in closed.stderr.read()
