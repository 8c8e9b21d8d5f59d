"""What the page says, in English and in Chinese."""

from collections.abc import Sequence

from markupsafe import Markup, escape

LANGUAGES = {"en": "English", "zh": "中文"}
TAGS = {"en": "en", "zh": "zh-Hans"}

TEXTS: dict[str, tuple[str, str]] = {
    "experiment": ("Experiment", "实验"),
    "skip": ("Skip to the results", "跳到结果"),
    # sections
    "results": ("Results", "结果"),
    "training": ("Training", "训练"),
    "data": ("Data", "数据"),
    "tokenizer": ("Tokenizer", "分词器"),
    "evaluation": ("Evaluation", "评测"),
    "settings": ("Batch and schedule", "批与调度"),
    "lineage": ("Lineage", "血缘"),
    "environment": ("Environment", "环境"),
    "record": ("Record", "记录"),
    # states of a value
    "not_computed": ("not computed", "未计算"),
    "not_finite": ("not finite ({reason})", "非有限值（{reason}）"),
    "reason_overflow": ("overflow", "溢出"),
    "reason_not a number": ("not a number", "非数值"),
    "separator": ("; ", "；"),
    "none": ("none", "无"),
    "yes": ("yes", "是"),
    "no": ("no", "否"),
    "not_set": ("not set", "未设置"),
    "empty_answer": ("(empty answer)", "（空回答）"),
    # models
    "unigram": ("Unigram baseline", "一元模型基线"),
    "base": ("Base", "基座"),
    "merged": ("Merged", "合并后"),
    "difference": ("Difference", "差值"),
    "metric": ("Metric", "指标"),
    "better": ("better", "变好"),
    "worse": ("worse", "变差"),
    "same": ("unchanged", "不变"),
    "lower_is_better": ("lower is better", "越低越好"),
    "higher_is_better": ("higher is better", "越高越好"),
    # metrics
    "bits_per_byte": ("Bits per byte", "每字节比特数"),
    "perplexity": ("Perplexity", "困惑度"),
    "answer_loss": ("Answer loss", "回答损失"),
    "core_answer_loss": ("Answer loss, core cases", "回答损失（核心用例）"),
    "core_answer_bits_per_byte": ("Answer bits per byte, core cases", "回答每字节比特数（核心用例）"),
    "exact_match": ("Exact match", "完全匹配率"),
    "bits_per_byte_about": ("held-out text, against a model that knows token frequencies alone", "留出文本，与只知道词元频率的模型相比"),
    "answer_loss_about": ("nats per token of held-out answers", "留出回答，每词元奈特"),
    "exact_match_about": ("core cases, greedy answers", "核心用例，贪心解码"),
    "margin": ("below the unigram baseline", "低于一元模型基线"),
    "margin_above": ("above the unigram baseline", "高于一元模型基线"),
    "from_base": ("from base to merged", "从基座到合并后"),
    "parameters": ("Parameters", "参数量"),
    "tokens_trained": ("Tokens trained on", "训练词元数"),
    "steps": ("Steps", "步数"),
    "vocabulary": ("Vocabulary", "词表大小"),
    "corpus": ("Training text", "训练文本"),
    "pretraining": ("Pre-training", "预训练"),
    "finetuning": ("Fine-tuning", "微调"),
    # curves
    "loss": ("Loss", "损失"),
    "loss_axis": ("loss, nats per token", "损失，每词元奈特"),
    "learning_rate": ("Learning rate", "学习率"),
    "learning_rate_axis": ("learning rate", "学习率"),
    "gradient_norm": ("Gradient norm", "梯度范数"),
    "gradient_norm_axis": ("gradient norm, before clipping", "梯度范数（裁剪前）"),
    "step": ("step", "步"),
    "curve_from_to": ("from {first} to {last}", "从 {first} 到 {last}"),
    "over_steps": ("over {steps} steps", "，共 {steps} 步"),
    "smoothed": ("bold: mean over {window} steps to each side", "粗线：前后各 {window} 步的均值"),
    "skipped": ("{count} steps without a finite value", "{count} 步没有有限值"),
    "no_curve": ("No training curve was written.", "没有训练曲线。"),
    "no_evaluation": ("No model has been evaluated.", "没有评测过模型。"),
    # data
    "funnel": ("From raw files to training text", "从原始文件到训练文本"),
    "funnel_about": (
        "UTF-8 bytes of each source after each step, to scale; the percentage is the change against the step before. "
        "Pages lose their markup when they are cleaned.",
        "每个来源在每一步之后的 UTF-8 字节数，按比例绘制；百分比为相对上一步的变化。网页的标记在清洗时去除。",
    ),
    "source": ("Source", "来源"),
    "all_sources": ("All sources", "全部来源"),
    "documents": ("documents", "文档"),
    "documents_title": ("Documents", "文档数"),
    "bytes": ("Bytes", "字节数"),
    "raw": ("raw", "原始"),
    "ingest": ("ingest", "读取"),
    "clean": ("clean", "清洗"),
    "dedup": ("deduplicate", "去重"),
    "filter": ("filter", "过滤"),
    "mix": ("mix", "混合"),
    "split": ("split", "划分"),
    "synthesize": ("synthesize", "合成"),
    "sieve": ("perplexity sieve", "困惑度筛选"),
    "stage_step": ("Step", "步骤"),
    "dropped": ("Dropped documents", "丢弃的文档"),
    "dropped_none": ("No document was dropped.", "没有丢弃文档。"),
    "reason": ("Reason", "原因"),
    "dropped_examples": ("Examples of what was dropped: {step}", "丢弃内容示例：{step}"),
    "duplicate_groups": ("Groups of duplicates; in bold, the document that stays", "重复内容分组；粗体为保留的文档"),
    "beginning": ("Beginning of the text", "文本开头"),
    "no_text": ("no text", "无文本"),
    "similarity": ("similarity", "相似度"),
    "further": ("and {count} more", "另有 {count} 篇"),
    "sizes_title": ("Sizes", "长度与规模"),
    "cluster_sizes": ("Documents in a group of duplicates", "重复分组的文档数"),
    "document_lengths": ("Tokens of a document", "每篇文档的词元数"),
    "row_lengths": ("Tokens of an instruction row, before anything is cut", "每行指令数据的词元数（截短前）"),
    "mix_title": ("Mix: asked for and realised", "混合比例：目标与实际"),
    "target": ("Target", "目标"),
    "realised": ("Realised", "实际"),
    "deviation": ("Deviation", "偏差"),
    "epochs": ("Repeats", "重复次数"),
    "points": ("points", "个百分点"),
    "sources_title": ("Sources", "来源"),
    "path": ("Path", "路径"),
    "format": ("Format", "格式"),
    "domain": ("Domain", "领域"),
    "licence": ("Licence", "许可"),
    "date": ("Date", "日期"),
    "text_language": ("Language", "语言"),
    "instruct_title": ("Instruction rows", "指令数据"),
    "warnings": ("Warnings of the data stages", "数据阶段的警告"),
    "packed_title": ("Rows that are trained and scored on", "用于训练与评测的行"),
    "training_of": ("Training", "训练"),
    "part": ("Split", "划分"),
    "train_part": ("Training", "训练集"),
    "validation_part": ("Validation", "验证集"),
    "packed_rows": ("Rows", "行数"),
    "trained_tokens": ("Tokens in the loss", "计入损失的词元"),
    "read": ("Read", "读入"),
    "duplicates": ("Duplicates", "重复"),
    "dropped_rows": ("Dropped", "丢弃"),
    "truncated": ("Shortened", "截短"),
    # tokenizer
    "byte_fallback_rate": ("Tokens that are single bytes", "单字节词元占比"),
    "without_piece": ("Characters without a piece", "没有词元的字符"),
    "kind": ("Kind", "类型"),
    "model_type": ("Model", "模型"),
    "vocab_size": ("Pieces", "词元数"),
    "character_coverage": ("Character coverage", "字符覆盖率"),
    "byte_fallback": ("Byte fallback", "字节回退"),
    "special_tokens": ("Special tokens", "特殊词元"),
    "bytes_per_token": ("Bytes per token", "每词元字节数"),
    "tokens": ("Tokens", "词元数"),
    "training_tokens": ("tokens to train on", "用于训练的词元"),
    # evaluation
    "groups": ("Core cases by group", "按组的核心用例"),
    "group": ("Group", "组"),
    "cases": ("Cases", "用例"),
    "examples": ("Example answers", "回答示例"),
    "prompt": ("Prompt", "提示"),
    "reference": ("Reference", "参考答案"),
    "right": ("exact match", "完全匹配"),
    "wrong": ("no match", "不匹配"),
    "unfinished": ("cut at the length limit", "达到长度上限"),
    "evaluator": ("Evaluator version", "评测器版本"),
    "prompt_hash": ("Prompts, SHA-256", "提示 SHA-256"),
    "dtype": ("Compute type", "计算类型"),
    # settings
    "setting": ("Setting", "设置"),
    "micro_batch": ("Micro batch", "微批大小"),
    "accumulation": ("Accumulation", "梯度累积"),
    "data_parallel": ("Data parallel", "数据并行"),
    "micro_batches": ("Pipeline micro batches", "流水线微批数"),
    "effective_batch": ("Effective batch", "有效批大小"),
    "rows_unit": ("rows", "行"),
    "seq_length": ("Sequence length", "序列长度"),
    "tokens_per_step": ("Tokens per step", "每步词元数"),
    "schedule": ("Schedule", "调度"),
    "peak": ("Peak learning rate", "峰值学习率"),
    "final": ("Final learning rate", "最终学习率"),
    "warmup_steps": ("Warm-up steps", "预热步数"),
    "optimizer": ("Optimizer", "优化器"),
    "betas": ("Betas", "Beta 系数"),
    "eps": ("Epsilon", "Epsilon"),
    "weight_decay": ("Weight decay", "权重衰减"),
    "clip_norm": ("Clipping norm", "裁剪范数"),
    "loss_scale": ("Loss scale", "损失缩放"),
    "seed": ("Seed", "随机种子"),
    "lora": ("LoRA rank / alpha / dropout", "LoRA 秩 / alpha / dropout"),
    "lora_targets": ("LoRA targets", "LoRA 目标层"),
    "architecture": ("Architecture", "结构"),
    # lineage, environment, record
    "lineage_about": (
        "Every result is named by the SHA-256 of its manifest, which lists the SHA-256 of every file in it. This report reads all of them.",
        "每个结果以其清单的 SHA-256 命名，清单列出其中每个文件的 SHA-256。本报告读取全部结果。",
    ),
    "stage": ("Stage", "阶段"),
    "inputs": ("Inputs", "输入"),
    "result": ("Result", "结果"),
    "files": ("Files", "文件数"),
    "size": ("Size", "大小"),
    "environment_about": (
        "Locked versions; a stage refuses to run with others. Results are the same to the byte on one device class and processor family.",
        "锁定的版本；版本不符时阶段拒绝运行。在同一设备类别与处理器系列上，结果逐字节一致。",
    ),
    "device": ("Device", "设备"),
    "processor": ("Processor family", "处理器系列"),
    "record_about": ("What record.json holds: data version, model version, evaluation.", "record.json 的内容：数据版本、模型版本、评测。"),
    "show_record": ("Show the record", "显示记录"),
    "all_metrics": ("All metrics of all stages", "所有阶段的全部指标"),
    "value": ("Value", "值"),
    "name": ("Name", "名称"),
}


class Texts:
    """The catalogue for the languages of one page. Its texts are markup that holds every language; CSS shows one."""

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = tuple(language for language in languages if language in LANGUAGES) or ("en",)

    def __call__(self, key: str, /, **values: object) -> Markup:
        """The text of a key in all languages of the page; a key without a text stands for itself (a name from the data)."""
        return self._spans(key, "span", values)

    def svg(self, key: str, /, **values: object) -> Markup:
        """The same inside a `<text>` of a drawing."""
        return self._spans(key, "tspan", values)

    def plain(self, key: str, language: str) -> str:
        """One text in one language."""
        return TEXTS[key][list(LANGUAGES).index(language)]

    def reason(self, reason: str) -> Markup:
        """Why a number is not finite."""
        key = f"reason_{reason}"
        return self("not_finite", reason=self(key) if key in TEXTS else reason)

    def _spans(self, key: str, element: str, values: dict[str, object]) -> Markup:
        if key not in TEXTS:
            return escape(key)
        return Markup("").join(
            Markup('<{0} class="t" lang="{1}">{2}</{0}>').format(
                element, TAGS[language], Markup(self.plain(key, language)).format(**values)
            )
            for language in self.languages
        )
