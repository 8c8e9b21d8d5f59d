"""From raw text to training rows."""

from compiler.spec.data.cleaning import Clean
from compiler.spec.data.deduplication import Dedup
from compiler.spec.data.instruct import InstructRows
from compiler.spec.data.mixing import DocumentSplit, Filter, Mix
from compiler.spec.data.sources import Ingest, Source
from compiler.spec.data.synthetic import Recipe
from compiler.spec.declare import Named, Section, section


class PretrainCorpus(Section):
    """The corpus of pre-training."""

    sources: Named[Source] = section(
        "Raw corpora by name; null takes an inherited one out.", "语料来源（按名称）；null 表示去掉继承的来源。"
    )
    ingest: Ingest = section("Decoding.", "读取与解码。", default=Ingest())
    clean: Clean = section("Cleaning.", "清洗。", default=Clean())
    dedup: Dedup = section("Deduplication.", "去重。", default=Dedup())
    filter: Filter = section("Filtering.", "过滤。", default=Filter())
    mix: Mix = section("Mixing.", "混合。")
    split: DocumentSplit = section("Validation set.", "验证集划分。", default=DocumentSplit())


class Data(Section):
    """All text."""

    pretrain: PretrainCorpus = section("Corpus of pre-training.", "预训练语料。")
    instruct: InstructRows = section("Rows of fine-tuning.", "微调数据。")
    synthetic: Named[Recipe] = section(
        "Rows that a model writes, by name; a source uses them as `path: recipe:NAME`.",
        "由模型生成的数据（按名称）；来源以 `path: recipe:NAME` 使用。",
        default={},
    )
