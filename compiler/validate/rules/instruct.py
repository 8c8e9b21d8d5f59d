"""Rows of fine-tuning."""

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec
from compiler.validate.rules.files import missing_template
from compiler.validate.rules.registry import Rules

RULES = Rules()


@RULES.needing("data")
def template_exists(spec: Spec, tree: SourceTree) -> Iterator[Diagnostic]:
    yield from missing_template(tree, spec.data.instruct.template, ("data", "instruct", "template"))
