"""What a spec must mean. Each rule is one function of a spec; a rule runs when the sections it needs are sound."""

from compiler.validate.rules import data, delivery, layout, model, precision, tokenizer, train
from compiler.validate.rules.registry import Rule

RULES: tuple[Rule, ...] = (
    *model.RULES,
    *data.RULES,
    *tokenizer.RULES,
    *train.RULES,
    *precision.RULES,
    *layout.RULES,
    *delivery.RULES,
)

__all__ = ["RULES", "Rule"]
