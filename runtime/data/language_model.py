"""KenLM's models: what a text is to them, how one is trained, and what a text scores.

Heafield 2011, "KenLM: Faster and Smaller Language Model Queries", and Heafield et al. 2013, "Scalable Modified Kneser-Ney
Language Model Estimation". Texts are told apart by perplexity as in Wenzek et al. 2020, "CCNet: Extracting High Quality
Monolingual Datasets from Web Crawl Data".
"""

import re
import shutil
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import IO, Any

from runtime.contracts.sieve import KENLM
from runtime.faults import EnvironmentFault, StageFault

TOOLS = ("lmplz", "build_binary")
SUFFIX = ".klm"
_SORTING = "512M"  # memory that lmplz sorts in; the rest goes through files
_SPACED = re.compile("[\u2e80-\u2fdf\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]{1,1000}")  # Han and kana
_PUNCTUATION = ".,;:!?()\"'-/" + "，。、；：！？（）“”《》「」…—·"
_DIGITS = re.compile("[0-9]+")


def sentences(text: str) -> list[str]:
    """Lines of a text as the model sees them: tokens between blanks.

    A token is a Han character or kana, a sign of punctuation, or a word in lower case; every number is `0`.
    """
    text = _DIGITS.sub("0", text.lower())
    for sign in _PUNCTUATION:  # some thirty of these are faster than one search for them all
        if sign in text:
            text = text.replace(sign, f" {sign} ")
    if not text.isascii():
        text = _SPACED.sub(lambda run: f" {' '.join(run[0])} ", text)
    return [line for line in text.split("\n") if line and not line.isspace()]


class Model:
    """One language's model, read from a file."""

    def __init__(self, path: Path) -> None:
        self._model = _kenlm().Model(str(path))

    def surprise(self, text: str) -> float | None:
        """The logarithm to base 10 of the perplexity per token, line ends being tokens; None for a text without any."""
        total, tokens = 0.0, 0
        for line in sentences(text):
            total += self._model.score(line)
            tokens += len(line.split()) + 1
        return -total / tokens if tokens else None


def load(path: Path) -> Model:
    """The model of a file, read once by a process. Raises EnvironmentFault where KenLM is not there.

    A path of the working folder alone would be that of another experiment's model in a process that has gone from one to the other.
    """
    return _read(path.absolute(), path.stat().st_mtime_ns)


@cache
def _read(path: Path, _written: int) -> Model:
    return Model(path)


def train(text: Path, model: Path, order: int, scratch: Path) -> None:
    """Make a model from a file of sentences. Raises StageFault with KenLM's own words where it fails.

    Neither the memory it sorts in nor threads nor paths are seen in the bytes.
    """
    arpa = scratch / f"{model.stem}.arpa"
    with text.open("rb") as given, arpa.open("wb") as made:
        options = ("-o", str(order), "-S", _SORTING, "-T", f"{scratch}/sort-", "--discount_fallback", "--skip_symbols")
        _run(TOOLS[0], *options, given=given, made=made)
    _run(TOOLS[1], str(arpa), str(model))
    arpa.unlink()


def check() -> None:
    """Raises EnvironmentFault where KenLM's tools or its module are missing or of another version."""
    for tool in TOOLS:
        _tool(tool)
    _kenlm()


def _run(tool: str, *arguments: str, given: IO[bytes] | None = None, made: IO[bytes] | None = None) -> None:
    source, target = given or subprocess.DEVNULL, made or subprocess.DEVNULL
    done = subprocess.run((_tool(tool), *arguments), stdin=source, stdout=target, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").strip().splitlines()[-3:])
        raise StageFault(f"{tool} ended with {done.returncode}: {said}", where="config/sieve.yaml", fix="see its own words above")


def _tool(name: str) -> str:
    beside = shutil.which(name, path=f"{sys.prefix}/bin")
    if found := beside or shutil.which(name):
        return found
    raise missing(f"{name} is not installed")


def _kenlm() -> Any:
    try:
        import kenlm  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise missing("the module kenlm is not installed") from None
    if (have := metadata.version("kenlm")) != KENLM:
        raise missing(f"kenlm is {have}, not {KENLM}")
    return kenlm


def missing(what: str) -> EnvironmentFault:
    """KenLM is not there, or not as it must be."""
    return EnvironmentFault(
        what,
        where="config/sieve.yaml",
        reason="data.pretrain.clean.perplexity scores documents with a model of KenLM, which is optional and built from its source",
        fix="run `make kenlm` in the project, or write perplexity: null",
    )
