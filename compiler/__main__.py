"""`python -m compiler`: the command line; with Hydra's own arguments, a Hydra application.

`python -m compiler check demo` is `mindspec check demo`;
`python -m compiler -m experiment=demo finetune.lora.rank=4,8` compiles and runs each point of a Hydra multirun.
"""

import sys


def main() -> int:
    """Tell the two uses apart by their first argument: a command's name, or Hydra's. `--lang` may stand before either."""
    from compiler.cli import chosen_language
    from compiler.cli import main as command_line
    from compiler.wording import speaking

    rest, language = chosen_language(sys.argv[1:])
    first = rest[0] if rest else ""
    # A word that is neither an option nor an override was meant for a command, even when there is none of that name.
    if first in ("", "-h", "--help", "--json") or not ("=" in first or first.startswith(("-", "~"))):
        return command_line()
    from compiler.sweep import main as sweep

    sys.argv[1:] = rest
    with speaking(language):
        return sweep()


if __name__ == "__main__":
    sys.exit(main())
