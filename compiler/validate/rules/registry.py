"""How a rule is registered."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic
from compiler.source import SourceTree
from compiler.spec import Spec

Check = Callable[[Spec, SourceTree], Iterable[Diagnostic]]


@dataclass(frozen=True)
class Rule:
    """A check and the top-level sections it reads. Its diagnostics name a path; the place is added for them."""

    needs: frozenset[str]
    check: Check


class Rules(list[Rule]):
    """The rules of one module, in the order in which they are written."""

    def needing(self, *sections: str) -> Callable[[Check], Check]:
        """Register a check that reads these sections."""

        def register(check: Check) -> Check:
            self.append(Rule(frozenset(sections), check))
            return check

        return register
