"""Which rows are worth a judgement: form first, then likeness to the prompt, to the seeds and to earlier rows."""

from dataclasses import dataclass

from runtime.contracts.synthesize import Sieve
from runtime.data.language import detect, primary
from runtime.data.synthetic.likeness import Likeness, contained
from runtime.data.synthetic.rows import answered, asked, whole
from runtime.data.synthetic.seeds import Row

OPENING = 300  # characters of an answer in which a refusal stands
TOO_SHORT, TOO_LONG, LANGUAGE, REFUSAL = "too_short", "too_long", "language", "refusal"
COPIED, NEAR_SEED, NEAR_ROW = "copies_the_prompt", "near_a_seed", "near_an_earlier_row"


@dataclass(frozen=True)
class Candidate:
    """A row and where it comes from: `request` is the number of the question, `place` the row's in the answer."""

    row: Row
    request: int
    place: int
    key: str
    seeds: tuple[int, ...]
    prompt: str

    @property
    def name(self) -> str:
        """Unique within a recipe."""
        return f"{self.request}.{self.place}"


class Gate:
    """Lets rows through in their order; what passed counts for those behind it."""

    def __init__(self, settings: Sieve, seeds: list[Row]) -> None:
        self._settings = settings
        self._refusals = tuple(phrase.casefold() for phrase in settings.refusals)
        self._seeds, self._rows = Likeness(settings.ngram), Likeness(settings.ngram)
        for seed in seeds:
            self._seeds.add(asked(seed))

    def refusal(self, candidate: Candidate) -> str | None:
        """Why a row is dropped; None for one that passes, and is remembered."""
        row = candidate.row
        reason = self._form(row) or self._likeness(candidate)
        if reason is None:
            self._rows.add(asked(row))
        return reason

    def _form(self, row: Row) -> str | None:
        text, settings = whole(row), self._settings
        if len(text) < settings.min_characters:
            return TOO_SHORT
        if len(text) > settings.max_characters:
            return TOO_LONG
        if settings.languages and not {language := detect(text), primary(language)} & set(settings.languages):
            return LANGUAGE
        opening = answered(row)[:OPENING].casefold().replace("’", "'")
        return REFUSAL if any(phrase in opening for phrase in self._refusals) else None

    def _likeness(self, candidate: Candidate) -> str | None:
        settings, question = self._settings, asked(candidate.row)
        if contained(whole(candidate.row), candidate.prompt, settings.ngram) > settings.copied:
            return COPIED
        if self._seeds.nearest(question)[0] >= settings.near:
            return NEAR_SEED
        return NEAR_ROW if self._rows.nearest(question)[0] >= settings.near else None
