"""Numbers with their nouns, for messages."""


def counted(number: int, noun: str, plural: str | None = None, form: str = "") -> str:
    """`1 row`, `2 rows`; `form`: how the number is written, such as `,` for marks between thousands."""
    return f"{number:{form}} {noun if number == 1 else plural or f'{noun}s'}"
