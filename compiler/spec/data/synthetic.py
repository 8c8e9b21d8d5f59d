"""Rows that a model writes after the example of rows that people wrote."""

from typing import Annotated, Literal

from pydantic import Field

from compiler.spec.data.sources import Language
from compiler.spec.declare import Integer, Items, Limited, Section, Text, identity, placement, section

MARK = "recipe:"
Price = Annotated[float, Field(ge=0, le=1e9)]
REFUSALS = (
    "as an ai", "as a language model", "as a large language model", "i'm sorry, but", "i cannot assist", "i can't assist",
    "i cannot help with", "i can't help with", "作为人工智能", "作为一个人工智能", "作为ai", "作为一个ai", "作为语言模型",
    "作为一个语言模型", "抱歉，我无法", "抱歉，我不能",
)  # fmt: skip


def recipe_of(path: str) -> str | None:
    """The recipe that the path of a source names, as in `recipe:poems`; None for a path of files."""
    return path.removeprefix(MARK) if path.startswith(MARK) else None


class Seeds(Section):
    """What people wrote."""

    path: Text = identity("File, or folder of *.jsonl, relative to the project root.", "文件，或含 *.jsonl 的文件夹，相对于项目根目录。")
    format: Literal["alpaca", "messages", "jsonl"] = identity("Shape of a row.", "样本格式。", default="alpaca")
    field: Text | None = identity("Field that holds the text; for jsonl.", "存放正文的字段（用于 jsonl）。", default=None)


class Endpoint(Section):
    """A model that is asked."""

    kind: Literal["endpoint", "checkpoint"] = identity(
        "Where the model runs: behind an address that speaks the chat-completions API, or as a local checkpoint.",
        "模型所在：支持 chat-completions 接口的地址，或本地检查点。",
        default="endpoint",
    )
    base_url: Text | None = placement(
        "Address up to, and without, /chat/completions; for an endpoint. Answers are kept by what was asked of which model, not where.",
        "接口地址，写到 /chat/completions 之前为止（用于 endpoint）。应答按向哪个模型问了什么保存，与地址无关。",
        default=None,
    )
    model: Text | None = identity("Name of the model there.", "接口中的模型名。", default=None)
    revision: Text | None = identity(
        "Tells apart models that are served under one name; it is not sent. Another one asks everything anew.",
        "区分以同一名称提供的不同模型；不会发送给接口。更改后全部重新请求。",
        default=None,
    )
    checkpoint: Text | None = identity(
        "Folder with model.json, model.safetensors, tokenizer and template.yaml; it is asked on the CPU of this machine.",
        "含 model.json、model.safetensors、tokenizer 和 template.yaml 的文件夹；在本机 CPU 上运行。",
        default=None,
    )
    temperature: Annotated[float, Field(ge=0, le=2)] | None = identity(
        "Sampling temperature; null leaves it to the endpoint.", "采样温度；null 表示由接口决定。", default=1.0
    )
    top_p: Annotated[float, Field(gt=0, le=1)] | None = identity(
        "Nucleus sampling; null leaves it to the endpoint.", "核采样；null 表示由接口决定。", default=None
    )
    max_tokens: Limited = identity("Longest answer.", "最长回答。", unit="tokens", ge=1, le=2**20, default=1024)
    limit_field: Literal["max_tokens", "max_completion_tokens"] = identity(
        "What the endpoint calls the longest answer.", "接口对最长回答的字段名。", default="max_tokens"
    )
    seeded: bool = identity(
        "Whether each request carries a seed of its own; off for endpoints that refuse it.",
        "每个请求是否带有各自的种子；接口不接受时关闭。",
        default=True,
    )
    plain_http: bool = placement(
        "Whether http may leave this machine: key and text are then readable on the way.",
        "是否允许用 http 访问其他机器：密钥与文本在途中可被读取。",
        default=False,
    )
    input_price: Price | None = identity("Price of a million tokens of prompts.", "每百万提示词元的价格。", default=None)
    output_price: Price | None = identity("Price of a million tokens of answers.", "每百万回答词元的价格。", default=None)
    api_key_env: str | None = placement(
        "Name of the environment variable that holds the key; null sends none. The key itself is never written.",
        "存放密钥的环境变量名；null 表示不发送。密钥本身绝不写入文件。",
        default=None,
    )
    concurrency: Limited = placement("Requests under way at once.", "同时进行的请求数。", ge=1, le=256, default=4)
    requests_per_minute: Integer | None = placement("Rate limit; null sets none.", "每分钟请求上限；null 表示不限。", default=None, ge=1)
    tokens_per_minute: Integer | None = placement(
        "Rate limit, prompt and longest answer counted.", "每分钟词元上限（提示与最长回答合计）；null 表示不限。", default=None, ge=1
    )
    retries: Limited = placement("Repeats of a request that failed.", "失败请求的重试次数。", ge=0, le=100, default=6)
    timeout_seconds: Annotated[float, Field(ge=0.1, le=3600)] = placement(
        "Longest wait for a whole answer.", "等待完整回答的最长时间。", unit="seconds", default=120.0
    )


class Score(Section):
    """A judgement on each row."""

    prompt: Text = identity("Prompt for the judge, a YAML file.", "评分提示（YAML 文件）。")
    threshold: Annotated[float, Field(ge=1, le=10)] = identity(
        "Rows below it, of 1 to 10, are dropped.", "低于此分（1 到 10）的行被丢弃。", default=7.0
    )
    generator: Endpoint | None = section(
        "The judge; null asks the model that wrote the row.", "评分模型；null 表示由生成模型评分。", default=None
    )


class Sieve(Section):
    """What a row must be like."""

    min_characters: Integer = identity("Shorter rows are dropped.", "更短的行被丢弃。", unit="characters", ge=0, default=20)
    max_characters: Integer = identity("Longer rows are dropped.", "更长的行被丢弃。", unit="characters", ge=1, default=20_000)
    languages: Items[Language] = identity("Languages kept; empty keeps all.", "保留的语言；空表示全部。", default=())
    refusals: Items[Text] = identity(
        "Phrases that tell a refusal, in any case, near the start of an answer.",
        "表示拒答的短语（不分大小写，位于回答开头附近）。",
        default=REFUSALS,
    )
    copied: Annotated[float, Field(gt=0, le=1)] = identity(
        "Largest share of a row's shingles that stand in its prompt.", "一行中来自提示的片段的最大比例。", default=0.7
    )
    near: Annotated[float, Field(ge=0.1, le=1)] = identity(
        "Jaccard similarity from which a row is one with a seed or an earlier row.",
        "与种子或先前的行视为相同的 Jaccard 相似度。",
        default=0.7,
    )
    ngram: Limited = identity("Words, or Han characters, of one shingle.", "片段的词数（或汉字数）。", ge=1, le=100, default=3)


class Recipe(Section):
    """How rows are made; a source uses it as `path: recipe:NAME`."""

    kind: Literal["instruct", "text"] = identity(
        "What is made: alpaca rows, or rows with the field text.", "生成内容：alpaca 行，或含 text 字段的行。"
    )
    seeds: Seeds = section("What people wrote.", "人工撰写的种子。")
    prompt: Text = identity("Prompt for the model, a YAML file.", "生成提示（YAML 文件）。")
    examples: Limited = identity("Seeds that each prompt shows.", "每个提示中展示的种子数。", ge=1, le=100, default=3)
    count: Integer = identity("Rows wanted.", "需要的行数。", unit="rows", ge=1)
    requests_max: Integer | None = identity(
        "Most requests for rows; null takes four a wanted row.", "生成请求的上限；null 表示所需行数的四倍。", default=None, ge=1
    )
    incomplete: Literal["fail", "keep"] = identity(
        "Where requests or budget end before the rows are there: stop, or keep those that are.",
        "请求数或预算先用完时：停止，或保留已有的行。",
        default="fail",
    )
    generator: Endpoint = section("The model that writes.", "生成模型。")
    score: Score | None = section("Judgement on each row; null takes all.", "对每行评分；null 表示全部接受。", default=None)
    sieve: Sieve = section("What a row must be like.", "对行的要求。", default=Sieve())
    budget: Annotated[float, Field(gt=0, le=1e12)] | None = identity(
        "What all requests may cost, in the currency of the prices.", "全部请求的费用上限（与价格同一货币）。", default=None
    )
    transcript: Text | None = identity(
        "Answers of an earlier run, a JSON lines file; they are not asked for again.",
        "先前运行的应答记录（JSON 行文件）；其中的请求不再发送。",
        default=None,
    )
    mode: Literal["live", "replay"] = identity(
        "Whether the model may be asked; replay takes every answer from the transcript.",
        "是否允许请求模型；replay 只使用记录中的应答。",
        default="live",
    )
