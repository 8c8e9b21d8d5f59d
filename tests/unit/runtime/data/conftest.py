"""A small tokenizer of real pieces, the repository's template, and experiment folders."""

from collections.abc import Callable
from pathlib import Path

import pytest
from samples import ROOT, Experiment, settings, texts

from runtime.data import chat, tokenizer
from runtime.data.chat import Template
from runtime.data.encoding import Vocabulary
from runtime.records import Record


@pytest.fixture(scope="session")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Vocabulary:
    """A BPE vocabulary of 420 pieces."""
    folder = tmp_path_factory.mktemp("tokenizer")
    return tokenizer.write(folder, tokenizer.train(tokenizer.Sentences().of(texts()), settings()), settings())


@pytest.fixture(scope="session")
def template() -> Template:
    """The chat template of the repository."""
    return chat.load_template(ROOT / "specs/template/chatml.yaml")


@pytest.fixture
def new_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Experiment]:
    """Makes an experiment below a root of the given name and enters it."""

    def make(name: str = "project") -> Experiment:
        made = Experiment(tmp_path / name)
        monkeypatch.chdir(made.folder)
        return made

    return make


@pytest.fixture
def documents() -> list[Record]:
    """Records of two sources."""
    return [Record(f"d{index}", text, "english" if index % 2 else "chinese") for index, text in enumerate(texts())]
