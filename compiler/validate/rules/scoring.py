"""Scores must be those of the model that is handed over, on text that it was not trained on."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()


@RULES.needing("export", "model")
def exported_as_scored(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    exported, scored = spec.export.dtype, spec.model.dtype.compute
    if exported == "float16" != scored:
        yield Diagnostic(
            "MS0396",
            said(f"exported in {exported}, but scored in {scored}", f"以 {exported} 导出，但以 {scored} 评测"),
            path=("export", "dtype"),
            reason=said(
                "the scores of the report are not those of the file: in another type some answers come out differently",
                "报告中的得分并不属于导出的文件：换一种数据类型，部分回答会不同",
            ),
            fix=said("export in float32, or score the file itself before it is used", "以 float32 导出，或在使用之前对该文件另行评测"),
            suggestion="float32",
            severity="warning",
        )


@RULES.needing("evaluation")
def scored_on_held_out_text(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    suite = spec.evaluation.suites.perplexity
    if suite is not None and suite.split == "train":
        yield Diagnostic(
            "MS0397",
            said("perplexity is measured on the rows that were trained on", "困惑度在训练过的样本上计算"),
            path=("evaluation", "suites", "perplexity", "split"),
            reason=said(
                "it falls the more the text is learned by heart, and cannot tell that from learning",
                "背诵得越多它就越低，无法与真正的学习区分",
            ),
            fix=said("use validation", "使用 validation"),
            suggestion="validation",
            severity="warning",
        )
