"""What leaves the experiment: the model file, the scores and the report."""

from typing import Literal

from compiler.spec.declare import Integer, Name, Named, Section, Some, Text, identity, presentation, section

Metric = Literal["perplexity", "bits_per_byte", "exact_match", "answer_loss"]


class Export(Section):
    """The merged model as a graph file."""

    format: Literal["mindir"] = identity("File format.", "文件格式。", default="mindir")
    shape: Literal["dynamic", "static"] = identity("Whether batch and length are free.", "批大小与长度是否可变。", default="dynamic")
    dtype: Literal["float32", "float16"] = identity("Type of the weights.", "权重的数据类型。", default="float32")


class PerplexitySuite(Section):
    """Token-weighted perplexity on held-out rows."""

    split: Literal["validation", "train"] = identity("Rows that are scored.", "评测的数据划分。", default="validation")


class CoreSuite(Section):
    """Greedy answers to fixed prompts."""

    cases: Text = identity("JSONL file of cases, relative to the project root.", "用例文件（JSONL），相对于项目根目录。")
    template: Text = identity("Chat template: a file of specs/template.", "对话模板（specs/template 下的文件）。")
    max_new_tokens: Integer = identity("Longest answer.", "回答的最大长度。", unit="tokens", ge=1, default=32)


class Suites(Section):
    """Sets of questions; null leaves one out."""

    perplexity: PerplexitySuite | None = section("Held-out text.", "困惑度评测。", default=None)
    core: CoreSuite | None = section("Core cases.", "核心用例。", default=None)


class Evaluation(Section):
    """How base and merged model are scored."""

    suites: Suites = section("Sets of questions.", "评测集。")
    metrics: Some[Metric] = identity("Scores that are written.", "评测指标。")


class Tolerance(Section):
    """How much worse a metric may get; the wider of the two limits holds."""

    relative: float | None = identity("As a share of the baseline.", "相对容差。", ge=0, default=None)
    absolute: float | None = identity("In the unit of the metric.", "绝对容差。", ge=0, default=None)


class Compare(Section):
    """Comparison with a baseline."""

    baseline: Name | None = identity(
        "Experiment, or file of baselines/, compared with.", "基线（实验或 baselines/ 中的文件）。", default=None
    )
    gate: bool = identity("Whether a regression fails the run.", "退化时是否失败。", default=False)
    tolerance: Named[Tolerance] = section("Limits by metric.", "各指标的容差。", default={})


class Report(Section):
    """The HTML report."""

    languages: Some[Literal["en", "zh"]] = presentation("Languages of the report.", "报告语言。", default=("en", "zh"))
