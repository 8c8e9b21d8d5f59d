"""How a stage refuses to go on: one located message, no traceback.

StageFault            something the user can mend: data, configuration, versions, disk
  EnvironmentFault    what is installed is not what the experiment was compiled for
  InputFault          a result folder that is missing, incomplete or changed
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass
class StageFault(Exception):
    """A fault of data or setting, found before or while a stage works.

    message: what is wrong, with the value; where: file, file:line or file:line:column it was found at;
    reason: what it would have caused; fix: what to do about it.
    """

    message: str
    where: str = ""
    reason: str = ""
    fix: str = ""

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.message}" if self.where else self.message]
        lines += [f"  why: {self.reason}"] if self.reason else []
        lines += [f"  fix: {self.fix}"] if self.fix else []
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.where, self.reason, self.fix)

    def as_dict(self) -> dict[str, str]:
        """The fault as data, for the program that started the stage."""
        return asdict(self)


def several(faults: Sequence[StageFault], count: int | None = None) -> StageFault:
    """Faults that were found together as one; one alone as it is. `count`: how many there are, where not all are told."""
    if len(faults) == 1:
        return faults[0]
    told = "\n".join(str(fault) for fault in faults)
    first = f", the first {len(faults)}:" if count is not None and count > len(faults) else ""
    return StageFault(f"{count or len(faults)} faults{first}\n{told}")


class EnvironmentFault(StageFault):
    """Installed versions or the device do not match the compiled experiment."""


class InputFault(StageFault):
    """An input folder is missing, incomplete, or not what its manifest says."""
