"""Parameters of synthesize, and where a source finds what it makes."""

from collections.abc import Mapping
from typing import Any

from compiler.spec import Spec
from compiler.spec.data.synthetic import Endpoint, Recipe, Score, recipe_of
from runtime.contracts import synthesize

REQUESTS_A_ROW = 4
PLACED = ("base_url", "api_key_env", "concurrency", "requests_per_minute", "tokens_per_minute", "retries", "timeout_seconds")


def place_of(path: str) -> tuple[str, bool]:
    """Where the rows of a source lie, and whether a stage of the experiment makes them."""
    recipe = recipe_of(path)
    return (path, False) if recipe is None else (f"{synthesize.CONTRACT.output}/rows/{recipe}", True)


def used_recipes(spec: Spec) -> dict[str, Recipe]:
    """The recipes that a source uses, by name."""
    sources = (*spec.data.pretrain.sources.values(), *spec.data.instruct.sources.values())
    used = {recipe_of(source.path) for source in sources}
    return {name: recipe for name, recipe in spec.data.synthetic.items() if name in used}


def recipe_files(spec: Spec) -> list[str]:
    """What the recipes read, relative to the project root."""
    files = [
        path
        for recipe in used_recipes(spec).values()
        for path in (recipe.seeds.path, recipe.prompt, recipe.transcript, *_of_score(recipe.score), recipe.generator.checkpoint)
    ]
    return [path for path in files if path]


def _of_score(score: Score | None) -> tuple[str | None, ...]:
    return (score.prompt, score.generator.checkpoint if score.generator else None) if score else ()


def synthesize_parameters(spec: Spec) -> synthesize.Synthesize:
    recipes = {name: _recipe(recipe) for name, recipe in used_recipes(spec).items()}
    return synthesize.Synthesize(recipes=recipes, seed=spec.seed)


def synthesize_placement(spec: Spec) -> Mapping[str, Any]:
    """Where, how fast, and with which key, the models of each recipe are asked; empty where none is used."""
    return {name: _placed(recipe) for name, recipe in used_recipes(spec).items()}


def _recipe(recipe: Recipe) -> synthesize.Recipe:
    seeds, sieve = recipe.seeds, recipe.sieve
    return synthesize.Recipe(
        kind=recipe.kind,
        seeds=synthesize.Seeds(path=seeds.path, format=seeds.format, field=seeds.field),
        prompt=recipe.prompt,
        examples=recipe.examples,
        count=recipe.count,
        requests_max=recipe.requests_max or REQUESTS_A_ROW * recipe.count,
        incomplete=recipe.incomplete,
        generator=_endpoint(recipe.generator),
        sieve=synthesize.Sieve(**sieve.model_dump(exclude={"languages", "refusals"}), languages=sieve.languages, refusals=sieve.refusals),
        score=_score(recipe.score) if recipe.score else None,
        budget=recipe.budget,
        transcript=recipe.transcript,
        mode=recipe.mode,
    )


def _score(score: Score) -> synthesize.Score:
    judge = _endpoint(score.generator) if score.generator else None
    return synthesize.Score(prompt=score.prompt, threshold=score.threshold, generator=judge)


def _endpoint(endpoint: Endpoint) -> synthesize.Endpoint:
    told = endpoint.model_dump(exclude={"kind", "model", "plain_http", *PLACED})
    return synthesize.Endpoint(model=endpoint.model or "", **told)


def _placed(recipe: Recipe) -> Mapping[str, Any]:
    judge = recipe.score.generator if recipe.score else None
    told = {"generator": recipe.generator.model_dump(include=set(PLACED))}
    return {**told, "score": judge.model_dump(include=set(PLACED))} if judge else told
