"""clean: main text of pages, unwanted characters, normalisation, language, personal data, quality rules, perplexity.

A source's declared language stands; without one it is detected from the text. The rules a language has no set for are
none: no rule made for one language is applied to another. A source of the domain `code` is judged by the rules of `code`
alone, and its white space stays.

A part is read in batches, so memory holds one batch a worker and one document, whatever the corpus. With a perplexity sieve
the parts are passed twice, see `runtime.data.perplexity`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from runtime.contracts.clean import Clean
from runtime.contracts.rules import CODE
from runtime.data import language, parts, perplexity, quality
from runtime.data.boilerplate import without_boilerplate
from runtime.data.characters import normalise, tidy
from runtime.data.funnel import Funnel
from runtime.data.html_text import page_text
from runtime.data.pii import masked
from runtime.faults import StageFault
from runtime.records import Record
from runtime.stage import Stage

INGESTED = "corpus/ingest"
BATCH, BATCH_CHARACTERS = 2000, 4_000_000
EMPTY, DAMAGED = "empty", "replacement_characters"
CHARACTERS, LINES, PERSONAL = "characters_removed", "lines_removed", "pii_masked"  # as in the metrics
_DAMAGED_SHARE = 0.01  # of U+FFFD: somebody decoded this text with loss before it came here
_REJECTED_SHARE = 0.9  # of one language by one rule: the rule does not fit, or the language is not what it is said to be
_ENOUGH = 50  # documents of a language from which that share means something


def cleaned(record: Record, parameters: Clean, noted: Funnel) -> Record:
    """The record with its text extracted, tidied, normalised and masked, and with its language; counts what was taken out."""
    is_page, code = record.meta.get("format") == "html", is_code(record)
    text = page_text(record.text, parameters.html == "main_content") if is_page else record.text
    removed = noted.note(CHARACTERS)
    tidied = tidy(text, removed, code)
    text = normalise(tidied, parameters.normalization)
    text = text if text == tidied else tidy(text, removed, code)  # folding may leave blanks at line ends
    if parameters.boilerplate and not code:
        text = tidy(without_boilerplate(text, noted.note(LINES)))
    if parameters.pii:
        text = masked(text, parameters.pii, noted.note(PERSONAL))
    return replace(record, text=text, language=record.language or language.detect(text))


def damage(text: str) -> str | None:
    """Why a text is dropped in any language; None where it is not."""
    if not text or text.isspace():
        return EMPTY
    return DAMAGED if text.count("\ufffd") > _DAMAGED_SHARE * len(text) else None


def judged(batch: list[Record], parameters: Clean, lines: Counter[str]) -> list[tuple[Record, str | None]]:
    """Every record, without the lines that rules take out, with the reason to drop it, or None, in order.

    Rules are computed for one language at a time.
    """
    batch, verdicts = list(batch), [damage(record.text) for record in batch]
    for tag, rule_set in parameters.rules.items():
        limits = parameters.limits.get(tag)
        chosen = [index for index, record in enumerate(batch) if verdicts[index] is None and applies(tag, record)]
        texts, taken = quality.without_lines([batch[index].text for index in chosen], rule_set, limits)
        lines.update(taken)
        for index, text, reason in zip(chosen, texts, quality.reasons(texts, rule_set, limits), strict=True):
            batch[index] = batch[index] if text is batch[index].text else batch[index].with_text(text)
            verdicts[index] = reason if text else EMPTY
    return list(zip(batch, verdicts, strict=True))


def is_code(record: Record) -> bool:
    """Whether the record is from a source of the domain `code`."""
    return record.meta.get("domain") == CODE


def applies(tag: str, record: Record) -> bool:
    """Whether rules for `tag` hold for a record: `zh` holds for `zh-Hant`, `zh-Hant` for itself alone, `code` for code alone."""
    if is_code(record) or tag == CODE:
        return is_code(record) and tag == CODE
    return record.language is not None and (record.language == tag or language.primary(record.language) == tag)


def passed(documents: Iterator[Record], parameters: Clean, funnel: Funnel) -> Iterator[Record]:
    """The cleaned documents that no rule drops, in order; the others go to the funnel with a reason."""
    for batch in batches(documents):
        for record in batch:
            funnel.enter(record)
        made = [cleaned(record, parameters, funnel) for record in batch]
        for record, reason in judged(made, parameters, funnel.note(LINES)):
            if reason:
                funnel.drop(record, reason)
            else:
                yield record


def kept(documents: Iterator[Record], parameters: Clean, funnel: Funnel) -> Iterator[Record]:
    """As `passed`, counted as kept."""
    return map(funnel.keep, passed(documents, parameters, funnel))


def run(stage: Stage[Clean]) -> None:
    """Clean every record; see the module."""
    for name in stage.parameters.rules.values():
        quality.rule_set(name)  # an unknown set is told before any work
    funnel, more = perplexity.sifted(stage, INGESTED, passed) if stage.parameters.perplexity else (parts.sift(stage, INGESTED, kept), {})
    _refuse_unfit_rules(funnel)
    stage.facts["normalization"] = stage.parameters.normalization
    funnel.conclude(stage, {**_noted(funnel), **more})


def batches(read: Iterable[Record]) -> Iterator[list[Record]]:
    """Records in lists of at most BATCH records and about BATCH_CHARACTERS characters."""
    batch: list[Record] = []
    size = 0
    for record in read:
        batch.append(record)
        size += len(record.text)
        if len(batch) >= BATCH or size >= BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _noted(funnel: Funnel) -> dict[str, Any]:
    """What was taken out of texts, by kind in alphabetical order; kinds of which there was none are left out."""
    return {name: {kind: count for kind, count in sorted(funnel.note(name).items()) if count} for name in (CHARACTERS, LINES, PERSONAL)}


def _refuse_unfit_rules(funnel: Funnel) -> None:
    for name, flow in sorted(funnel.languages.items()):
        for reason, count in sorted(flow.dropped.items()):
            if flow.documents_in >= _ENOUGH and count > _REJECTED_SHARE * flow.documents_in:
                raise StageFault(
                    f"the rule {reason} drops {count} of {flow.documents_in} documents in {name}",
                    where="config/clean.yaml",
                    reason="a rule that rejects over 90 % of a language was not made for it",
                    fix=f"choose other rules in data.pretrain.clean.rules.{name} (none switches them off), give the rule another limit in "
                    f"data.pretrain.clean.limits.{name}, or mend the source's language",
                )
