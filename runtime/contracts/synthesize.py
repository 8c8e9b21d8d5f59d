"""synthesize: a few rows that people wrote -> many that a model wrote, judged, and unlike the first."""

from runtime.contracts.base import Contract, parameters


@parameters
class Seeds:
    """What people wrote: a file or folder of JSON Lines or JSON, relative to the project root; `format`: alpaca | messages | jsonl.

    `field`: the one that holds the text, for jsonl.
    """

    path: str
    format: str
    field: str | None = None


@parameters
class Endpoint:
    """A chat model, wherever it answers, and what is asked of it; None is left out of the request.

    `checkpoint`: a folder of weights, tokenizer and template, relative to the project root, that is asked instead.

    `limit_field`: max_tokens | max_completion_tokens; `seeded`: whether each request carries a seed of its own.
    `revision`: tells apart models that are served under one name; it is not sent. Prices are per million tokens, in the
    currency of the budget.
    """

    model: str
    temperature: float | None
    top_p: float | None
    max_tokens: int
    limit_field: str = "max_tokens"
    seeded: bool = True
    revision: str | None = None
    checkpoint: str | None = None
    input_price: float | None = None
    output_price: float | None = None


@parameters
class Score:
    """`prompt`: a file, relative to the project root; rows below `threshold` of 1 to 10 are dropped.

    `generator`: None asks the model that wrote the rows.
    """

    prompt: str
    threshold: float
    generator: Endpoint | None = None


@parameters
class Sieve:
    """What a row must be like: code points of the whole row; languages, empty for all; phrases that tell a refusal.

    `copied`: share of its shingles that may come from the prompt; `near`: Jaccard similarity from which two rows are one.
    `ngram`: words, or Han characters, of a shingle.
    """

    min_characters: int
    max_characters: int
    languages: tuple[str, ...]
    refusals: tuple[str, ...]
    copied: float
    near: float
    ngram: int


@parameters
class Recipe:
    """`kind`: instruct (alpaca rows) | text (rows with the field `text`); `examples`: seeds that each prompt shows.

    `count`: rows wanted; `requests_max`: requests for rows, at most; `incomplete`: fail | keep, where count is not reached.
    `budget`: what all requests may cost, in the currency of the prices; `mode`: live | replay, which refuses to ask.
    `prompt` and `transcript` are files, relative to the project root.
    """

    kind: str
    seeds: Seeds
    prompt: str
    examples: int
    count: int
    requests_max: int
    incomplete: str
    generator: Endpoint
    sieve: Sieve
    score: Score | None = None
    budget: float | None = None
    transcript: str | None = None
    mode: str = "live"


@parameters
class Synthesize:
    """The recipes that a source of the experiment uses."""

    recipes: dict[str, Recipe]
    seed: int


CONTRACT = Contract(
    name="synthesize",
    program="runtime.data.synthetic.synthesize",
    parameters=Synthesize,
    output="synthetic",
    environment=("python", "orjson", "xxhash", "pycld2", "sentencepiece", "mindspore", "mindformers", "numpy", "safetensors"),
    optional=True,
)
