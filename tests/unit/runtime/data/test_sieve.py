"""The sieve by perplexity, with KenLM's own tools."""

import random
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml
from corpora import Project, lines_of, source

from runtime import records
from runtime.contracts.clean import Perplexity
from runtime.data import language_model, sieve
from runtime.data.perplexity import _threshold, threshold
from runtime.faults import EnvironmentFault, StageFault


def is_built() -> bool:
    try:
        language_model.check()
    except EnvironmentFault:
        return False
    return True


built = pytest.mark.skipif(not is_built(), reason="KenLM is optional and not built here: `make kenlm` builds it")

SUBJECTS = ("reader", "librarian", "teacher", "child", "visitor", "writer", "student", "printer")
OBJECTS = ("a book", "the old map", "his letter", "a long tale", "the catalogue", "every page", "this shelf", "a lamp")
VERBS = ("opened", "read", "carried", "returned", "described", "forgot", "repaired", "bought")
PLACES = ("in the hall", "at home", "by the window", "before noon", "in the city", "near the door", "on Monday", "after dinner")
PEOPLE, DEEDS, THINGS = (
    "老師學生讀者作家孩子",
    ("打開", "讀完", "帶走", "歸還", "描寫", "忘記"),
    ("一本書", "舊地圖", "那封信", "長故事", "目錄"),
)


def english(seed: int, sentences: int = 12) -> str:
    chance = random.Random(seed)
    pick = chance.choice
    return "\n".join(f"The {pick(SUBJECTS)} {pick(VERBS)} {pick(OBJECTS)} {pick(PLACES)}." for _ in range(sentences))


def chinese(seed: int, sentences: int = 12) -> str:
    chance = random.Random(seed)
    places = range(0, len(PEOPLE), 2)
    return "\n".join(
        f"{PEOPLE[place : place + 2]}今天{chance.choice(DEEDS)}了{chance.choice(THINGS)}。" for place in chance.choices(places, k=sentences)
    )


def shuffled(text: str, seed: int, by: str = " ") -> str:
    """The same words, or characters, in an order that nobody writes."""
    parts = list(text.replace("\n", by)) if not by else text.split()
    random.Random(seed).shuffle(parts)
    return by.join(parts)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path, {"rows": source("data/raw/rows", "jsonl", "text")})
    made.put("data/reference/en.txt", "\n".join(english(n) for n in range(40)))
    made.put("data/reference/zh/text.jsonl", lines_of(*({"text": chinese(n)} for n in range(40))))
    made.config["sieve"] = {"reference": "data/reference", "order": 3}
    made.config["clean"] |= {"rules": {}, "perplexity": {"percentile": 0.8, "limit": None}}
    monkeypatch.chdir(made.folder)
    return made


def rows(project: Project) -> tuple[set[str], set[str]]:
    """Put good and strange documents of two languages, a fifth of each strange; returns both."""
    good = {english(n) for n in range(100, 116)} | {chinese(n) for n in range(100, 116)}
    strange = {shuffled(english(n), n) for n in range(200, 204)} | {shuffled(chinese(n), n, "") for n in range(200, 204)}
    project.put("data/raw/rows/a.jsonl", lines_of(*({"text": text} for text in sorted(good | strange))))
    return good, strange


@built
def test_documents_above_the_percentile_of_their_language_are_dropped(project: Project) -> None:
    good, strange = rows(project)
    project.run("sieve", "ingest", "clean")
    kept = project.records("corpus/clean")
    metrics = project.metrics("clean")
    assert {record.text for record in kept} == good
    assert metrics["dropped"] == {"perplexity": len(strange)}
    assert {name: flow["dropped"] for name, flow in metrics["languages"].items()} == {"en": {"perplexity": 4}, "zh": {"perplexity": 4}}
    assert set(metrics["perplexity"]["thresholds"]) == {"en", "zh"}
    assert all("_surprise" not in record.meta for record in kept)
    assert project.metrics("sieve")["languages"] == ["en", "zh"]


@built
def test_both_passes_and_the_training_tell_how_far_they_are(project: Project, capfd: pytest.CaptureFixture[str]) -> None:
    rows(project)
    project.run("ingest", "sieve", "clean")
    told = [line for line in capfd.readouterr().err.splitlines() if line.endswith(" done")]
    seen, left = (project.metrics("clean")[f"documents_{end}"] for end in ("in", "out"))
    above = project.metrics("clean")["dropped"]["perplexity"]
    assert told[-2:] == [f"clean: {seen} of {seen} documents done", f"clean by perplexity: {left + above} of {left + above} documents done"]
    assert any(line.startswith("sieve models: 2 of 2 models") for line in told)


@built
def test_a_limit_holds_beside_the_percentile_and_is_a_perplexity(project: Project) -> None:
    good, _ = rows(project)
    project.config["clean"]["perplexity"] = {"percentile": None, "limit": 60.0}
    project.run("sieve", "ingest", "clean")
    assert {record.text for record in project.records("corpus/clean")} == good
    project.config["clean"]["perplexity"] = {"percentile": 0.5, "limit": 1e6}
    project.run("clean")
    assert len(project.records("corpus/clean")) == 20


@built
def test_workers_and_parts_change_no_byte(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    rows(project)
    monkeypatch.setattr(records, "PART", records.Limit(7, 1_000_000))
    found = []
    for workers in (1, 3):
        (project.folder / "placement.yaml").write_text(yaml.safe_dump({"workers": workers}))
        project.run("sieve", "ingest", "clean")
        files = {path.name: path.read_bytes() for path in sorted((project.folder / "sieve").iterdir())}
        found.append((files, project.results()))
    assert found[0] == found[1]


@built
def test_the_models_of_another_project_are_not_taken_in_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have the same path within the experiment, which is the working folder."""
    surprises = []
    for name, written in (("one", english), ("other", lambda n: shuffled(english(n), n))):
        made = Project(tmp_path / name, {"rows": source("data/raw/rows", "jsonl", "text")})
        made.put("data/reference/en.txt", "\n".join(f"{written(n)}\n" * 12 for n in range(40)))
        made.config["sieve"] = {"reference": "data/reference", "order": 3}
        monkeypatch.chdir(made.folder)
        made.run("sieve")
        surprises.append(language_model.load(Path("sieve/en.klm")).surprise(english(100)))
    assert surprises[1] > surprises[0] + 0.1


@built
def test_a_document_of_a_language_without_a_model_stays_and_is_told(project: Project) -> None:
    rows(project)
    russian = "Читатель открыл книгу в большом зале и долго читал её у окна."
    project.put("data/raw/rows/b.jsonl", lines_of({"text": russian}))
    project.run("sieve", "ingest", "clean")
    assert russian in {record.text for record in project.records("corpus/clean")}
    metrics = project.metrics("clean")
    assert metrics["perplexity"]["unscored"] == {"ru": 1}
    assert "1 document in ru" in metrics["warnings"][0]


@built
@pytest.mark.parametrize(
    ("path", "content", "told"),
    [
        ("data/reference/x.txt", b"\xff\xfe\x00", "utf-8"),
        ("data/reference/x.jsonl", b'{"other": 1}\n', "text"),
        ("data/reference/x.jsonl", b"{broken\n", "x.jsonl"),
    ],
)
def test_a_faulty_reference_is_told(project: Project, path: str, content: bytes, told: str) -> None:
    project.put(path, content)
    with pytest.raises(StageFault, match=told):
        project.run("sieve")


@built
def test_too_little_reference_is_refused(project: Project) -> None:
    project.put("data/little.txt", "One line of text is not enough for a model of a language.")
    project.config["sieve"]["reference"] = "data/little.txt"
    with pytest.raises(StageFault, match="no language has 100 lines"):
        project.run("sieve")


@built
def test_perplexity_is_that_of_the_probabilities_of_the_tokens(project: Project) -> None:
    project.run("sieve")
    path = project.folder / "sieve/en.klm"
    import kenlm  # pyright: ignore[reportMissingImports]

    text = "The reader opened a book in the hall.\nNobody knows 1234 zebras!"
    scores = [score for line in language_model.sentences(text) for score, _, _ in kenlm.Model(str(path)).full_scores(line)]
    assert language_model.Model(path).surprise(text) == pytest.approx(-np.mean(scores), rel=1e-5)
    assert language_model.Model(path).surprise(" \n") is None


def test_without_kenlm_the_command_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(EnvironmentFault, match="make kenlm"):
        project.run("sieve")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, World! 2024", ["hello , world ! 0"]),
        ("圖書館開放，歡迎。", ["圖 書 館 開 放 ， 歡 迎 。"]),
        ("用apt安裝Python3", ["用 apt 安 裝 python0"]),
        ("\n \nかな", ["か な"]),
    ],
)
def test_tokens_are_characters_of_han_and_lower_case_words(text: str, tokens: list[str]) -> None:
    assert [" ".join(line.split()) for line in language_model.sentences(text)] == tokens


@pytest.mark.parametrize("share", [0.01, 0.5, 0.75, 0.9, 0.99])
def test_the_threshold_is_the_quantile_of_all_scores(share: float) -> None:
    scores = [random.Random(n).randint(10_000, 40_000) for n in range(997)]
    assert threshold(Counter(scores), share) == np.quantile(scores, share, method="inverted_cdf")


def test_the_lower_one_of_percentile_and_limit_decides() -> None:
    scores = Counter({10_000: 9, 30_000: 1})
    assert _threshold(scores, Perplexity(percentile=0.9, limit=5.0)) == 6989
    assert _threshold(scores, Perplexity(percentile=0.9, limit=1e6)) == 10_000
    assert _threshold(Counter(), Perplexity(percentile=0.9, limit=None)) is None


def test_blocks_of_a_reference_end_with_lines(tmp_path: Path) -> None:
    text = "".join(f"第{n}行的文字\n" for n in range(20_000))
    (tmp_path / "a.txt").write_text(text, "utf-8")
    found = list(sieve.blocks(tmp_path / "a.txt", "data/a.txt"))
    assert "".join(found) == text
    assert len(found) > 4 and all(block.endswith("\n") for block in found)
