"""The key of an endpoint: read from the environment, put into one header, and taken out of everything else."""

import os
import re

from runtime.faults import StageFault

HIDDEN = "***"


class Secret:
    """A key that shows itself to `header` alone; without one (`None`) nothing is sent."""

    def __init__(self, value: str | None) -> None:
        self._value = value

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> str:
        raise TypeError("a key is not written")

    @classmethod
    def from_environment(cls, name: str | None) -> "Secret":
        """The key in a variable. Raises StageFault, without showing it, where there is none or it cannot be sent."""
        if name is None:
            return cls(None)
        value = os.environ.get(name, "").strip()
        if not value:
            raise StageFault(
                f"the environment variable {name} is not set",
                where="placement.yaml",
                reason="the endpoint would refuse every request",
                fix=f"set it where the stage runs: export {name}=..., or take api_key_env out of the spec for an endpoint without keys",
            )
        if not re.fullmatch(r"[\x21-\x7e]+", value):
            raise StageFault(f"the key in {name} holds blanks or characters beyond ASCII", where="placement.yaml", fix="set the key alone")
        return cls(value)

    @property
    def header(self) -> dict[str, str]:
        """The header of a request."""
        return {"Authorization": f"Bearer {self._value}"} if self._value else {}

    def hide(self, text: str) -> str:
        """The text without the key: endpoints repeat it in what they say of wrong ones."""
        return text.replace(self._value, HIDDEN) if self._value else text
