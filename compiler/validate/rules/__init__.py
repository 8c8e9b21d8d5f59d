"""What a spec must mean. Each rule is one function of a spec; a rule runs when the sections it needs are sound."""

from compiler.validate.rules import (
    adapter,
    attention,
    budgets,
    capabilities,
    cleaning,
    constants,
    counts,
    data,
    delivery,
    fit,
    instruct,
    layout,
    mixing,
    model,
    precision,
    schedule,
    scoring,
    source_files,
    synthetic,
    text_budget,
    tokenizer,
    train,
)
from compiler.validate.rules.registry import Rule

RULES: tuple[Rule, ...] = (
    *model.RULES,
    *data.RULES,
    *source_files.RULES,
    *cleaning.RULES,
    *mixing.RULES,
    *budgets.RULES,
    *synthetic.RULES,
    *instruct.RULES,
    *tokenizer.RULES,
    *counts.RULES,
    *train.RULES,
    *schedule.RULES,
    *constants.RULES,
    *adapter.RULES,
    *text_budget.RULES,
    *precision.RULES,
    *attention.RULES,
    *layout.RULES,
    *capabilities.RULES,
    *fit.RULES,
    *delivery.RULES,
    *scoring.RULES,
)

__all__ = ["RULES", "Rule"]
