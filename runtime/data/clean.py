"""clean: main text of pages, unwanted characters, normalisation, language, quality rules.

A source's declared language stands; without one it is detected from the text. The rules a language has no set for are
none: no rule made for one language is applied to another.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from runtime import records
from runtime.contracts.clean import Clean
from runtime.data import language, quality
from runtime.data.characters import normalise, tidy
from runtime.data.funnel import Funnel
from runtime.data.html_text import page_text
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

BATCH = 2000
EMPTY, DAMAGED = "empty", "replacement_characters"
_DAMAGED_SHARE = 0.01  # of U+FFFD: somebody decoded this text with loss before it came here
_REJECTED_SHARE = 0.9  # of one language by one rule: the rule does not fit, or the language is not what it is said to be
_ENOUGH = 50  # documents of a language from which that share means something


def cleaned(record: Record, parameters: Clean) -> Record:
    """The record with its text extracted, tidied and normalised, and with its language."""
    is_page = record.meta.get("format") == "html"
    text = page_text(record.text, parameters.html == "main_content") if is_page else record.text
    text = normalise(tidy(text), parameters.normalization)
    text = text if parameters.normalization == "none" else tidy(text)  # folding may leave blanks at line ends
    return replace(record, text=text, language=record.language or language.detect(text))


def damage(text: str) -> str | None:
    """Why a text is dropped in any language; None where it is not."""
    if not text.strip():
        return EMPTY
    return DAMAGED if text.count("\ufffd") > _DAMAGED_SHARE * len(text) else None


def judged(batch: list[Record], rules: dict[str, str]) -> list[tuple[Record, str | None]]:
    """Every record with the reason to drop it, or None, in order; rules are computed for one language at a time."""
    verdicts = [damage(record.text) for record in batch]
    for tag, rule_set in rules.items():
        chosen = [index for index, record in enumerate(batch) if verdicts[index] is None and applies(tag, record.language)]
        for index, reason in zip(chosen, quality.reasons([batch[index].text for index in chosen], rule_set), strict=True):
            verdicts[index] = reason
    return list(zip(batch, verdicts, strict=True))


def applies(tag: str, spoken: str | None) -> bool:
    """Whether rules for `tag` hold for a language: `zh` holds for `zh-Hant`, `zh-Hant` for itself alone."""
    return spoken is not None and (spoken == tag or language.primary(spoken) == tag)


def run(stage: Stage[Clean]) -> None:
    """Clean every record; see the module."""
    parameters, funnel = stage.parameters, Funnel(_sources(stage))
    total = stage.manifest("corpus/ingest").counts.get("documents")
    with stage.bar(total, "documents") as bar:

        def kept() -> Iterator[Record]:
            for batch in batches(records.read(stage.input("corpus/ingest"))):
                for record in batch:
                    funnel.enter(record)
                for record, reason in judged([cleaned(record, parameters) for record in batch], parameters.rules):
                    if reason:
                        funnel.drop(record, reason)
                    else:
                        yield funnel.keep(record)
                bar.advance(len(batch))

        records.write(stage.out, kept())
    _refuse_unfit_rules(funnel)
    stage.facts["normalization"] = parameters.normalization
    funnel.conclude(stage)


def batches(read: Iterable[Record]) -> Iterator[list[Record]]:
    """Records in lists of at most BATCH."""
    pending = iter(read)
    while batch := list(islice(pending, BATCH)):
        yield batch


def _sources(stage: Stage[Clean]) -> list[str]:
    return stage.manifest("corpus/ingest").facts.get("sources", [])


def _refuse_unfit_rules(funnel: Funnel) -> None:
    for name, flow in sorted(funnel.languages.items()):
        for reason, count in sorted(flow.dropped.items()):
            if flow.documents_in >= _ENOUGH and count > _REJECTED_SHARE * flow.documents_in:
                raise StageFault(
                    f"the rule {reason} drops {count} of {flow.documents_in} documents in {name}",
                    where="config/clean.yaml",
                    reason="a rule that rejects over 90 % of a language was not made for it",
                    fix=f"choose other rules in data.pretrain.clean.rules.{name} (none switches them off), or mend the source's language",
                )
