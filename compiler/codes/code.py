"""What is known of one code apart from where it was found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Code:
    """`title`: the fault in a few words; `story`: the long text of `mindspec explain`, in paragraphs.

    `plannable`: what such a fault refuses can still be planned for, since only a run needs it.
    """

    title: str
    story: str = ""
    plannable: bool = False
