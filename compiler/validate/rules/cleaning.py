"""What is cleaned away must be what was meant."""

import re
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.registry import Rules
from compiler.wording import said

RULES = Rules()


@RULES.needing("data")
def rules_have_a_language(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    for language in spec.data.pretrain.clean.rules:
        if not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z]+)*", language):
            yield Diagnostic(
                "MS0206",
                said(f"{language} is no language tag", f"{language} 不是语言标签"),
                path=("data", "pretrain", "clean", "rules", language),
                reason=said("no document has this language, so the rules would apply to none", "没有文档属于该语言，规则将不会生效"),
                fix=said("write a language tag such as en or zh", "请写 en、zh 之类的语言标签"),
            )


@RULES.needing("data")
def perplexity_is_not_built(spec: Spec, _tree: SourceTree) -> Iterator[Diagnostic]:
    if spec.data.pretrain.clean.perplexity is not None:
        yield Diagnostic(
            "MS0325",
            said("the perplexity sieve is not built in this version", "本版本没有困惑度筛选"),
            path=("data", "pretrain", "clean", "perplexity"),
            reason=said(
                "no language model is there to score documents; the limit would be ignored", "没有给文档打分的语言模型，该上限会被忽略"
            ),
            fix=said(
                "write null; the quality rules of data.pretrain.clean.rules stay in force",
                "请写 null；data.pretrain.clean.rules 的质量规则仍然有效",
            ),
            suggestion="null",
        )
