"""synthesize: a few rows that people wrote -> many that a model wrote, judged, and unlike the first.

Everything that is asked, and every answer, is kept in `.mindspec/transcripts/<recipe>.jsonl` at the project root, which
neither DVC nor a stage deletes, and copied into the result. What was answered once is never asked for again: a run that was
killed goes on where it was, and a transcript that the spec names gives the same bytes without a network. The result is a
function of settings, seeds, prompts and answers, not of concurrency, order of arrival, failures or earlier runs.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from runtime import atomic
from runtime.contracts.counting import counted
from runtime.contracts.synthesize import Endpoint, Recipe, Synthesize
from runtime.data import provenance
from runtime.data.funnel import EXAMPLES
from runtime.data.language import detect
from runtime.data.synthetic import prompts, rows, seeds
from runtime.data.synthetic.asking import Asker, Desk, Model, Tally
from runtime.data.synthetic.checkpoint import Checkpoint, LocalAsker, identified
from runtime.data.synthetic.endpoint import KEPT
from runtime.data.synthetic.exchange import BILLION
from runtime.data.synthetic.limits import Ledger
from runtime.data.synthetic.recipe import Batch, Kitchen, Made, summary
from runtime.data.synthetic.transcript import Transcript, lines_of
from runtime.faults import StageFault
from runtime.placement import Requests
from runtime.stage import Stage, encode_json

TRANSCRIPTS = ".mindspec/transcripts"
SAMPLE, SAMPLED, SHOWN = "sample.jsonl", 50, 400
WHY = {
    "requests": "requests_max is reached",
    "budget": "the next request could cost more than is left of the budget",
    "replay": "the transcript has no answer to the next request, and mode: replay asks for none",
}
MEND = {
    "requests": "loosen sieve or threshold, mend the prompt, or raise requests_max",
    "budget": "raise the budget, or lower count",
    "replay": "use the transcript of a run with the same settings, or mode: live",
}


def run(stage: Stage[Synthesize]) -> None:
    """Make the rows of all recipes, one after the other."""
    recipes = {name: _identified(recipe, stage.root) for name, recipe in stage.parameters.recipes.items()}
    batches = {name: _cooked(stage, name, recipe) for name, recipe in recipes.items()}
    for name, batch in batches.items():
        _write(stage.out, name, batch)
    _write_lines(stage.out / EXAMPLES, ({"source": name, **row} for name, batch in batches.items() for row in batch.examples))
    _write_lines(stage.out / SAMPLE, (row for name, batch in batches.items() for row in _sample(name, batch.made)))
    told = {name: summary(recipes[name], batch) for name, batch in batches.items()}
    short = {name: one for name, one in told.items() if one["ended"] != "count"}
    warnings = [f"{name}: {one['rows']} of {counted(one['wanted'], 'row')}; {WHY[one['ended']]}" for name, one in short.items()]
    for warning in warnings:
        stage.terminal.say(f"warning: {warning}")
    stage.counts = {"rows": sum(len(batch.made) for batch in batches.values())}
    stage.facts = {"recipes": {name: _facts(stage, recipe, batches[name]) for name, recipe in recipes.items()}}
    stage.metrics({"rows": stage.counts["rows"], "recipes": told, "warnings": warnings})


def _cooked(stage: Stage[Synthesize], name: str, recipe: Recipe) -> Batch:
    """What a recipe makes. Raises StageFault where that is less than it must be."""
    root, placed, score = stage.root, stage.placement.synthetic.get(name, {}), recipe.score
    judging = prompts.load(root, score.prompt, prompts.JUDGING[recipe.kind]) if score else None
    writing, known = prompts.load(root, recipe.prompt, prompts.WRITING), seeds.read(root, recipe.seeds)
    with ExitStack() as open, stage.bar(None, "answers", name) as bar:
        transcript = open.enter_context(Transcript(root / TRANSCRIPTS / f"{name}.jsonl", _given(root, recipe), stage.terminal))
        budget = None if recipe.budget is None else int(recipe.budget * BILLION)
        desk = Desk(transcript, Ledger(budget, transcript.lost), live=recipe.mode == "live")
        writer = open.enter_context(closing(_asker(stage, recipe.generator, placed.get("generator"), desk)))
        judge = (
            open.enter_context(closing(_asker(stage, score.generator, placed.get("score"), desk))) if score and score.generator else writer
        )
        open.callback(_tell, stage, name, desk.tally)
        batch = Kitchen(name, recipe, known, writing, judging, writer, judge, stage.parameters.seed).cook(bar)
    _refuse_short(name, recipe, batch)
    return batch


def _given(root: Path, recipe: Recipe) -> Path | None:
    """The transcript that the spec names. Raises StageFault where it is not there."""
    given = root / recipe.transcript if recipe.transcript else None
    if given and not given.is_file():
        fix = "fetch it with `dvc pull`, or mend the path"
        raise StageFault(f"{recipe.transcript} is not there", where="config/synthesize.yaml", fix=fix)
    return given


def _asker(stage: Stage[Synthesize], settings: Endpoint, placed: Requests | None, desk: Desk) -> Asker | LocalAsker:
    if settings.checkpoint is None:
        return Asker(Model(settings, placed or Requests()), desk)
    folder, work = stage.root / settings.checkpoint, stage.scratch / "mindspore"
    return LocalAsker(Checkpoint(folder, work, stage.placement.threads, stage.parameters.seed), desk)


def _identified(recipe: Recipe, root: Path) -> Recipe:
    """The recipe with the hashes of the weights that it asks."""
    score = recipe.score
    if score and score.generator:
        score = replace(score, generator=identified(score.generator, root))
    return replace(recipe, generator=identified(recipe.generator, root), score=score)


def _refuse_short(name: str, recipe: Recipe, batch: Batch) -> None:
    short = len(batch.made) < recipe.count
    if batch.made and (not short or recipe.incomplete == "keep"):
        return
    reasons = ", ".join(f"{reason}: {count}" for reason, count in sorted(batch.dropped.items()))
    raise StageFault(
        f"{name}: {len(batch.made)} of {counted(recipe.count, 'row')} after {counted(len(batch.written), 'request')}; {WHY[batch.ended]}",
        where="config/synthesize.yaml",
        reason=f"dropped: {reasons}" if reasons else "",
        fix=f"{MEND[batch.ended]}; incomplete: keep takes what there is; {KEPT}",
    )


def _tell(stage: Stage[Synthesize], name: str, tally: Tally) -> None:
    """What this run had to do goes to the terminal and beside the times: another run need not do it."""
    stage.terminal.say(f"{name}: {tally.told()}")
    content = {"sent": tally.sent, "cached": tally.cached, "repeated": dict(sorted(tally.repeated.items())), "lost": tally.lost / BILLION}
    atomic.write_bytes(Path("timings") / f"{stage.contract.name}-{name}.json", encode_json(content))


def _write(out: Path, name: str, batch: Batch) -> None:
    """Rows for a source to read, where each comes from, and everything that was said."""
    _write_lines(out / "rows" / name / "part.jsonl", (_values(one) for one in batch.made))
    _write_lines(out / "origins" / f"{name}.jsonl", (_origin(one) for one in batch.made))
    exchanges = (exchange for part in (batch.written, batch.judged) for exchange in part)
    _write_bytes(out / "transcripts" / f"{name}.jsonl", lines_of(exchanges))


def _values(one: Made) -> dict[str, str]:
    return {key: text for key, text in one.candidate.row.items() if text or key != "input"}


def _origin(one: Made) -> dict[str, Any]:
    origin = {"id": one.candidate.name, "request": one.candidate.key, "seeds": list(one.candidate.seeds)}
    return origin if one.score is None else {**origin, "score": one.score}


def _sample(name: str, made: list[Made]) -> Iterator[dict[str, Any]]:
    for one in made[:SAMPLED]:
        text = rows.whole(one.candidate.row)
        yield {"id": one.candidate.name, "source": name, "language": detect(text), "text": text[:SHOWN]}


def _facts(stage: Stage[Synthesize], recipe: Recipe, batch: Batch) -> dict[str, Any]:
    """What the rows were made from, for the record: models in their own words, hashes of seeds and prompts."""
    files = [(recipe.prompt, stage.root / recipe.prompt)]
    files += [(recipe.score.prompt, stage.root / recipe.score.prompt)] if recipe.score else []
    models = {answer.model for part in (batch.written, batch.judged) for _, answer in part if answer.model}
    return {
        "models": sorted(models),
        "seeds": provenance.describe(seeds.files_of(stage.root, recipe.seeds)),
        "prompts": provenance.describe(files),
    }


def _write_lines(path: Path, lines: Iterator[dict[str, Any]]) -> None:
    _write_bytes(path, (orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))


def _write_bytes(path: Path, lines: Iterator[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.writelines(lines)
