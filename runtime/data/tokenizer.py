"""tokenizer: a SentencePiece model trained on the training documents, lossless on blanks, tabs and line ends; or a given one.

What the model file holds depends on the documents and the parameters alone: sentences come from an iterator (no path is
stored), the number of threads is fixed (it partitions the work, and with it the rounding of scores), and a sample of a large
corpus is drawn by the ids of its documents. Memory: some ten times `training_bytes`.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from runtime.contracts.counting import counted
from runtime.contracts.tokenizer import Tokenizer
from runtime.data import encoding, given
from runtime.data.coverage import Coverage, measure, sum_of
from runtime.data.encoding import MODEL, PIECES, SPECIAL, Vocabulary
from runtime.data.sentences import MAX_SENTENCE_BYTES, Sentences, draw
from runtime.faults import StageFault
from runtime.stage import Stage

THREADS = 4  # not the machine's cores: the threads decide which scores come out
LINE_SYMBOLS = ("\n", "\t")  # pieces of their own, so that no piece reaches across a line or a column
PROBES = ("a\nb", "a\tb", "a  b ", "  x", "\n\n x\t\t\n", "a\r\nb", "\u2581 \u3000\u00a0\u2028", "\ufe30\uff21\uff22\uff0c\uff1a")
UNKNOWN_LIMIT = 0.01
# Pieces of SentencePiece's own: unknown, the bytes, and a blank inside any piece.
TAKEN = re.compile(r"<unk>|<0x[0-9A-F]{2}>|.*\u2581.*")


def train(sentences: Iterable[str], parameters: Tokenizer) -> bytes:
    """Train a model and return it serialised. Raises StageFault where the vocabulary does not fit the corpus."""
    special = parameters.special_tokens
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type=parameters.model_type,
            vocab_size=parameters.vocab_size,
            character_coverage=parameters.character_coverage,
            byte_fallback=parameters.byte_fallback,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,
            pad_id=0,
            bos_id=1,
            eos_id=2,
            unk_id=3,
            pad_piece=special.pad,
            bos_piece=special.bos,
            eos_piece=special.eos,
            control_symbols=list(special.user),
            user_defined_symbols=[*LINE_SYMBOLS, *parameters.user_defined],
            max_sentence_length=MAX_SENTENCE_BYTES,
            num_threads=THREADS,
            minloglevel=0,  # a level that another training set in this process would hide what SentencePiece says
        )
    except (RuntimeError, ValueError) as error:
        raise _refusal(str(error), parameters) from None
    return model.getvalue()


def _refusal(error: str, parameters: Tokenizer) -> StageFault:
    """SentencePiece says what is wrong as the text of a failed check; both numbers are in it."""
    asked, where = parameters.vocab_size, "config/tokenizer.yaml"
    if "sentences_.empty()" in error:
        return StageFault("no training text", where="corpus/split/train", fix="widen the filters of data.pretrain, or give more text")
    if most := re.search(r"value <= (\d+)", error):
        return StageFault(
            f"vocab_size is {asked}, the training documents give at most {counted(int(most[1]), 'piece')}",
            where=where,
            reason="the rest of the embedding would never be trained",
            fix=f"set tokenizer.vocab_size to at most {most[1]}, or use more text",
        )
    if least := re.search(r"required_chars\. \d+ vs (\d+)", error):
        return StageFault(
            f"vocab_size is {asked}, single characters and special pieces alone need {least[1]}",
            where=where,
            reason=f"character_coverage {parameters.character_coverage} gives each of them a piece of its own",
            fix=f"set tokenizer.vocab_size above {least[1]}, or lower tokenizer.character_coverage (the rest becomes bytes)",
        )
    return StageFault(f"SentencePiece refused: {error.rsplit('] ', maxsplit=1)[-1] or error}", where=where, fix="see logs/tokenizer.log")


def check_special_tokens(parameters: Tokenizer) -> None:
    """Raise StageFault where two special pieces share a text, or one is empty or broken by a blank."""
    special = parameters.special_tokens
    texts = [special.pad, special.bos, special.eos, *special.user, *parameters.user_defined]
    wrong = [text for text, count in Counter(texts).items() if count > 1 or not text or re.search(r"\s", text) or TAKEN.fullmatch(text)]
    if wrong:
        raise StageFault(
            f"special_tokens: {', '.join(map(repr, wrong))} cannot be used",
            where="config/tokenizer.yaml",
            reason="each needs a text of its own, without blanks, and none of SentencePiece's (<unk>, <0x0A>, \u2581): "
            "an id with two meanings hides the end of an answer",
            fix="give pad, bos, eos and the markers different texts",
        )


def special_tokens(processor: SentencePieceProcessor, parameters: Tokenizer) -> dict[str, Any]:
    """The content of `special_tokens.json`."""
    special = parameters.special_tokens
    named = {
        name: {"text": text, "id": processor.piece_to_id(text)}
        for name, text in (("pad", special.pad), ("bos", special.bos), ("eos", special.eos))
    }
    unknown = {"text": processor.id_to_piece(processor.unk_id()), "id": processor.unk_id()}
    return {
        "vocab_size": processor.get_piece_size(),
        **named,
        "unk": unknown,
        "user": {text: processor.piece_to_id(text) for text in special.user},
    }


def changed_probes(vocabulary: Vocabulary) -> list[str]:
    """The texts of PROBES that do not come back from their ids."""
    return [probe for probe in PROBES if vocabulary.decode(vocabulary.encode(probe)) != probe]


def check_round_trip(vocabulary: Vocabulary, parameters: Tokenizer, held_out: Coverage) -> None:
    """Raise StageFault where a text does not come back from its ids, though every byte has a piece, or too much is unknown."""
    lossy = changed_probes(vocabulary)
    if parameters.path is not None:
        given.check_losses(held_out, parameters)
    elif parameters.byte_fallback and (lossy or held_out.changed):
        shown = f"{counted(held_out.changed, 'validation document')}, and of the probes {lossy!r}, change when they are encoded and decoded"
        raise StageFault(shown, where="tokenizer", reason="the tokenizer loses text", fix="report this as a bug of the tokenizer stage")
    if held_out.unknown > UNKNOWN_LIMIT * held_out.tokens:
        raise StageFault(
            f"{held_out.unknown} of {counted(held_out.tokens, 'validation token')} unknown",
            where="corpus/split/validation",
            reason=f"more than {UNKNOWN_LIMIT:.0%} of held-out text is lost",
            fix="set tokenizer.byte_fallback to true, or raise tokenizer.character_coverage"
            if parameters.path is None
            else "give a tokenizer that knows the languages of the text",
        )


def characters_without_piece(vocabulary: Vocabulary, characters: Counter[str]) -> list[str]:
    """Characters of the training documents that have no piece, the most frequent first."""
    known = {vocabulary.backend.piece(id) for id in range(vocabulary.backend.size)} | {" "}
    return sorted(
        (character for character in characters if character not in known), key=lambda character: (-characters[character], character)
    )


def run(stage: Stage[Tokenizer]) -> None:
    """Train on corpus/split/train, or take what is given; test on corpus/split/validation."""
    corpus = stage.input("corpus/split")
    if stage.parameters.path is None:
        _train(stage, corpus)
    else:
        _take(stage, corpus)


def _train(stage: Stage[Tokenizer], corpus: Path) -> None:
    parameters = stage.parameters
    check_special_tokens(parameters)
    drawn, seen = draw(corpus / "train", parameters.training_bytes), Sentences()
    with stage.bar(None, "documents") as bar:
        model = train(_counted(seen.of(drawn.of(corpus / "train")), seen, bar.advance), parameters)
    vocabulary = write(stage.out, model, parameters)
    held_out = measure(vocabulary, corpus / "validation")
    check_round_trip(vocabulary, parameters, sum_of(held_out))
    missing = characters_without_piece(vocabulary, seen.characters)
    used = {"documents": seen.documents, "sentences": seen.sentences, "long_lines_split": seen.split}
    stage.counts = {"pieces": vocabulary.size, **used}
    stage.facts = {
        "identity": vocabulary.identity,
        "vocab_size": vocabulary.size,
        "model_type": parameters.model_type,
        "threads": THREADS,
        "normalization": "identity",
    }
    stage.metrics(
        {
            "vocab_size": vocabulary.size,
            "training": {**used, "bytes": seen.bytes, "of_documents": drawn.documents, "of_bytes": drawn.bytes},
            "characters": {
                "distinct": len(seen.characters),
                "without_piece": len(missing),
                "most_frequent_without_piece": "".join(missing[:50]),
            },
            **_validation(held_out),
        }
    )


def _take(stage: Stage[Tokenizer], corpus: Path) -> None:
    parameters = stage.parameters
    vocabulary = given.take(stage.out, stage.root, parameters)
    held_out = measure(vocabulary, corpus / "validation")
    total = sum_of(held_out)
    check_round_trip(vocabulary, parameters, total)
    told = given.warnings(total, changed_probes(vocabulary))
    for warning in told:
        stage.terminal.say(f"warning: {warning}")
    stage.counts = {"pieces": vocabulary.size}
    stage.facts = {"identity": vocabulary.identity, "vocab_size": vocabulary.size, "kind": parameters.kind}
    stage.metrics(
        {
            "vocab_size": vocabulary.size,
            "kind": parameters.kind,
            "characters": {
                "changed": total.lost.total(),
                "of": total.characters,
                "most_frequent_changed": total.most_lost(given.LOSS_SHOWN),
                "without_piece": None,
                "without_piece_reason": "the tokenizer is given",
            },
            **_validation(held_out),
            "warnings": told,
        }
    )


def _validation(held_out: Mapping[str, Coverage]) -> dict[str, Any]:
    total = sum_of(held_out)
    return {
        "validation": {**total.as_metrics(), "changed_documents": total.changed},
        "validation_by_source": {source: coverage.as_metrics() for source, coverage in sorted(held_out.items())},
    }


def _counted(sentences: Iterator[str], seen: Sentences, advance: Any) -> Iterator[str]:
    done = 0
    for sentence in sentences:
        if seen.documents > done:
            advance(seen.documents - done)
            done = seen.documents
        yield sentence


def write(folder: Path, model: bytes, parameters: Tokenizer) -> Vocabulary:
    """Write the tokenizer folder and load it back. Raises StageFault where it has not the size that was asked for."""
    processor = SentencePieceProcessor(model_proto=model)
    if processor.get_piece_size() != parameters.vocab_size:
        raise StageFault(
            f"the model has {counted(processor.get_piece_size(), 'piece')}, vocab_size is {parameters.vocab_size}",
            where="config/tokenizer.yaml",
            reason="the embedding of the language model would not match",
            fix=f"set tokenizer.vocab_size to {processor.get_piece_size()}",
        )
    (folder / MODEL).write_bytes(model)
    pieces = (
        json.dumps([processor.id_to_piece(id), processor.get_score(id)], ensure_ascii=False) for id in range(processor.get_piece_size())
    )
    (folder / PIECES).write_text("".join(f"{piece}\n" for piece in pieces), "utf-8", newline="\n")
    stated = special_tokens(processor, parameters)
    (folder / SPECIAL).write_text(json.dumps(stated, ensure_ascii=False, indent=1) + "\n", "utf-8", newline="\n")
    return encoding.load(folder)
