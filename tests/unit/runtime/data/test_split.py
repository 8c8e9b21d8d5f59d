"""Training and validation: no text on both sides, stable, never empty."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import Project, source
from hypothesis import given
from hypothesis import strategies as st

from runtime import records
from runtime.contracts.split import Overlap, Split
from runtime.data import holding_out, overlap
from runtime.data.holding_out import Sides
from runtime.data.holding_out import divide as divided
from runtime.data.ordering import fingerprint, rank, unit
from runtime.data.split import Look, exact, look, refuse_overlap
from runtime.faults import StageFault
from runtime.placement import Placement
from runtime.records import Limit, Record

Enter = Callable[[Mapping[str, Any], Sequence[Record]], Project]


def documents(texts: list[str]) -> list[Record]:
    return [Record(str(index), text, "s") for index, text in enumerate(texts)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


Divide = Callable[..., tuple[list[Record], list[Record], list[Record]]]


@pytest.fixture(scope="module")
def divide(folder: Path) -> Divide:
    """Training documents, validation documents, and the repeats that validation goes without."""

    def make(every: Sequence[Record], share: float, seed: int, by: Any = "document", long_bytes: int | None = None):
        path = folder / "part.jsonl.zst"
        records.write_part(path, map(vars, every))
        parameters = Split(validation=share, by=by, seed=seed, long_bytes=long_bytes)
        looks = look(Look(path, parameters, tuple(dict.fromkeys(record.source for record in every))))
        sides = divided(looks, share, by).sides.tolist()
        wanted = (holding_out.TRAIN, holding_out.VALIDATION, holding_out.REPEAT)
        parts = [[record for record, side in zip(every, sides, strict=True) if side == one] for one in wanted]
        return parts[0], parts[1], parts[2]

    return make


@given(
    texts=st.lists(st.sampled_from(["问:1+1? 答:2", "问:1+1? 答:2 ", "问：１＋１？ 答:2", "A b", "a B", "c", "d", "e", "f"])),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 9),
)
def test_a_text_is_on_one_side_and_once_in_validation(divide: Divide, texts: list[str], share: float, seed: int) -> None:
    if len({fingerprint(text) for text in texts}) < 2:
        with pytest.raises(StageFault, match="distinct document"):
            divide(documents(texts), share, seed)
        return
    train, validation, repeats = divide(documents(texts), share, seed)
    sides = [{fingerprint(record.text) for record in side} for side in (train, validation)]
    assert train and validation
    assert not sides[0] & sides[1]
    assert len(sides[1]) == len(validation)
    assert len(train) + len(validation) + len(repeats) == len(texts)


def test_the_share_is_met_and_the_seed_chooses(divide: Divide) -> None:
    texts = [f"document {n}" for n in range(5000)]
    chosen = [{record.text for record in divide(documents(texts), 0.02, seed)[1]} for seed in (0, 2**32 - 1)]
    assert all(70 <= len(one) <= 130 for one in chosen)
    assert len(chosen[0] & chosen[1]) < 20


def test_more_data_moves_no_document_to_the_other_side(divide: Divide) -> None:
    texts = [f"document {n}" for n in range(2000)]
    few, more = ({record.text for record in divide(documents(part), 0.05, 1)[1]} for part in (texts[:1000], texts))
    assert few <= more


def test_every_source_is_held_out_in_its_share(divide: Divide) -> None:
    large, small, single = (
        [Record(f"{name}{n}", f"{name} {n}", name) for n in range(count)] for name, count in (("large", 2000), ("small", 8), ("single", 1))
    )
    _, validation, _ = divide([*large, *small, *single], 0.02, 42)
    sources = [record.source for record in validation]
    assert 20 <= sources.count("large") <= 60
    assert (sources.count("small"), sources.count("single")) == (1, 0)


def test_sources_of_one_document_each_can_be_divided(divide: Divide) -> None:
    train, validation, _ = divide([Record("a", "a", "one"), Record("b", "b", "two")], 0.02, 42)
    assert (len(train), len(validation)) == (1, 1)


def test_the_order_is_kept(divide: Divide) -> None:
    train, validation, _ = divide(documents([f"document {n}" for n in range(100)]), 0.3, 1)
    assert [int(record.id) for record in train] == sorted(int(record.id) for record in train)
    assert [int(record.id) for record in validation] == sorted(int(record.id) for record in validation)


def of_files(files: int, pages: int) -> list[Record]:
    return [
        Record(f"{file}-{page}", f"file {file} page {page}", "书", meta={"path": f"{file}.html"})
        for page in range(pages)
        for file in range(files)
    ]


def test_by_file_the_documents_of_a_file_stay_together(divide: Divide) -> None:
    every = of_files(200, 5)
    train, validation, _ = divide(every, 0.1, 42, by="file")
    sides = [{record.meta["path"] for record in side} for side in (train, validation)]
    assert not sides[0] & sides[1]
    assert 8 <= len(sides[1]) <= 35
    assert len(validation) == 5 * len(sides[1])
    again, *_ = divide(every[::-1], 0.1, 42, by="file")
    assert {record.id for record in again} == {record.id for record in train}


def test_by_file_files_with_a_text_in_common_stay_together(divide: Divide) -> None:
    shared = [Record(f"s{file}", "the same page", "书", meta={"path": f"{file}.html"}) for file in range(20)]
    train, validation, repeats = divide([*of_files(40, 3), *shared], 0.2, 7, by="file")
    for side in (train, [*validation, *repeats]):
        linked = {record.meta["path"] for record in side} & {f"{file}.html" for file in range(20)}
        assert len(linked) in (0, 20)


def test_a_single_file_cannot_be_divided_by_file(divide: Divide) -> None:
    with pytest.raises(StageFault, match="1 file without a text in common") as fault:
        divide(of_files(1, 9), 0.1, 1, by="file")
    assert "split.by=document" in fault.value.fix


def test_long_documents_are_held_out_in_their_share_too(divide: Divide) -> None:
    long = [Record(f"l{n}", f"long {n} " + "字" * 400, "s") for n in range(10)]
    _, validation, _ = divide([*documents([f"short {n}" for n in range(990)]), *long], 0.02, 3, long_bytes=1200)
    assert sum(record.size >= 1200 for record in validation) == 1


@pytest.mark.parametrize("copy", ["问:1+1? 答:2 ", "问：１＋１？\n答：２", "问:1+1?答:2"])
def test_copies_in_other_clothes_have_one_fingerprint(copy: str) -> None:
    assert fingerprint(copy) == fingerprint("问:1+1? 答:2")
    assert fingerprint("A b") == fingerprint("a\tB") != fingerprint("a c")


@pytest.mark.parametrize("copy", ["问:1+1? 答:2 ", "问：１＋１？\n答：２"])
def test_a_row_that_is_on_both_sides_is_told_after_normalisation(folder: Path, copy: str) -> None:
    path = folder / "both.jsonl.zst"
    records.write_part(path, map(vars, documents(["问:1+1? 答:2", "other", copy])))
    looks = look(Look(path, Split(validation=0.5, by="document", seed=1), ("s",)))
    forced = Sides(divided(looks, 0.5, "document").sides * 0, 2)
    forced.sides[2] = holding_out.VALIDATION
    assert exact(looks, forced) == 1


SENTENCE = "the quick brown fox jumps over the lazy dog while seven wise owls watch from an old oak tree"
HAN = "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少床前明月光疑是地上霜"


def told(folder: Path, train: list[str], validation: list[str]) -> dict[str, Any]:
    paths = [folder / f"{side}.jsonl.zst" for side in ("train", "validation")]
    for path, texts in zip(paths, (train, validation), strict=True):
        records.write_part(path, map(vars, documents(texts)))
    return overlap.measured(paths[:1], paths[1:], 13, folder / "scratch", Placement())


@pytest.mark.parametrize("text", [SENTENCE, HAN, "short text"])
def test_what_validation_shares_with_training_is_counted_in_runs(tmp_path: Path, text: str) -> None:
    whole = told(tmp_path, [f"Before. {text.upper()}" if len(text) > 12 else text, "nothing"], [text])
    assert (whole["share"], whole["documents_mostly_seen"]) == (1.0, 1)
    none = told(tmp_path, ["nothing in common at all"], [text, "of that"])
    assert (none["share"], none["documents_mostly_seen"], none["runs_in_training"]) == (0.0, 0, 0)


def test_runs_do_not_cross_from_one_document_to_the_next(tmp_path: Path) -> None:
    words = SENTENCE.split()
    assert told(tmp_path, [" ".join(words[:9]), " ".join(words[9:])], [SENTENCE])["share"] == 0.0
    assert told(tmp_path, ["", "。"], ["", "。"])["runs"] == 0


def test_more_runs_than_are_looked_for_are_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [" ".join(f"w{(n * 7919 + place * place) % 99991}" for place in range(60)) for n in range(80)]
    full = told(tmp_path, texts[:40], texts[20:60])
    monkeypatch.setattr(overlap, "MOST", 500)
    part = told(tmp_path, texts[:40], texts[20:60])
    assert full["share"] == 0.5
    assert part["runs"] <= 500 < full["runs"]
    assert abs(part["share"] - 0.5) < 0.1
    assert part["sampled"] < 1


@pytest.fixture
def enter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Enter:
    """Makes an experiment whose mix is the given one, and enters it."""

    def make(settings: Mapping[str, Any], mixed: Sequence[Record]) -> Project:
        names = dict.fromkeys(record.source for record in mixed)
        project = Project(tmp_path / str(len(list(tmp_path.iterdir()))), {name: source("none", "text") for name in names})
        project.config["split"].update(settings)
        project.made("mix", mixed)
        monkeypatch.chdir(project.folder)
        return project

    return make


def test_workers_and_parts_change_neither_side(enter: Enter, monkeypatch: pytest.MonkeyPatch) -> None:
    mixed = documents([f"document {n}" for n in range(300)])
    whole = enter({}, mixed)
    whole.run("split")
    monkeypatch.setattr(records, "PART", Limit(70, 1 << 20))
    results: list[dict[str, bytes]] = []
    for workers in (1, 2):
        project = enter({}, mixed)
        (project.folder / "placement.yaml").write_text(f"workers: {workers}\n")
        project.run("split")
        results.append(project.results())
    assert results[0] == results[1]
    for side in ("train", "validation"):
        assert project.records(f"corpus/split/{side}") == whole.records(f"corpus/split/{side}")
    assert project.metrics("split") == whole.metrics("split")


def test_long_documents_are_told_and_listed_apart(enter: Enter) -> None:
    long = [Record(f"l{n}", f"long {n} " + "字" * 400, "s") for n in range(10)]
    project = enter({"long_bytes": 1000}, [*documents([f"short {n}" for n in range(50)]), *long])
    project.run("split")
    held = [record.id for record in project.records("corpus/split/validation") if record.meta.get("long")]
    assert held and held == [record.id for record in project.records("corpus/split/validation_long")]
    counts = project.metrics("split")["long"]
    assert (counts["bytes_least"], counts["validation"]["documents"]) == (1000, len(held))
    assert counts["train"]["documents"] + len(held) == 10


def test_sides_with_too_much_in_common_are_warned_of_or_refused(enter: Enter, capfd: pytest.CaptureFixture[str]) -> None:
    mixed = documents([f"{SENTENCE} {HAN} number {n}" for n in range(20)])
    project = enter({}, mixed)
    project.run("split")
    (warning,) = project.metrics("split")["warnings"]
    assert "of the runs of 13 tokens in the validation set are in the training set too" in warning
    assert warning in capfd.readouterr().err
    assert project.metrics("split")["overlap"]["documents_mostly_seen"] == len(project.records("corpus/split/validation"))
    refused = enter({"overlap": {"ngram": 13, "limit": 0.1, "above": "refuse"}}, mixed)
    with pytest.raises(StageFault, match="more than 10") as fault:
        refused.run("split")
    assert "data.pretrain.split.by=file" in fault.value.fix


def test_what_is_done_already_is_no_way_out() -> None:
    by_file = Split(validation=0.1, by="file", seed=1, overlap=Overlap(limit=0.1, above="refuse"))
    with pytest.raises(StageFault, match="more than 10") as fault:
        refuse_overlap(by_file, {"share": 0.5, "ngram": 13, "documents_mostly_seen": 1})
    assert "by=file" not in fault.value.fix


def test_ranks_do_not_change_between_versions() -> None:
    assert rank(42, "draw", 0, "poems-1") == 8652649923759734203
    assert 0 <= unit(42, "a") < 1
    assert rank(1, "a", "b") != rank(1, "ab")
