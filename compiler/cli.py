"""The command line: `mindspec COMMAND [NAME] [overrides]`.

Results go to standard output, messages to standard error. Exit codes: 0 ok, 1 problems found in a spec or a failed gate,
2 wrong usage, 3 a stage failed.
"""

import argparse
import importlib
import io
import json
import os
import re
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from compiler import collecting  # noqa: F401  # pyright: ignore[reportUnusedImport]
from compiler.command_parser import CommandParser
from compiler.diagnostics import Diagnostic, Faults, render
from compiler.project import find_project
from compiler.system_errors import told_with_file
from compiler.wording import LANGUAGES, Language, in_language, language_of, listed, said, speaking

COMMANDS = {
    "check": said("validate experiments and report every fault at once", "校验实验，一次报告全部错误"),
    "compile": said("write the DVC stages and the concrete configuration files", "生成 DVC 阶段与具体的配置文件"),
    "plan": said("what will be trained, on which layout, with how much memory and time", "将训练什么：并行布局、内存与代价"),
    "run": said("compile, then `dvc repro` with live progress", "编译后执行 `dvc repro`，并实时显示进度"),
    "diff": said("what differs between two experiments, and which stages that runs again", "比较两个实验，并列出因此重新运行的阶段"),
    "compare": said("metrics of experiments side by side, with tolerances", "并列比较各实验的指标及其容差"),
    "baseline": said("keep an experiment's record as a baseline", "将一次实验的记录保存为基线"),
    "data": said(
        "what the data stages did: funnel, dropped and kept texts, rows with their mask",
        "数据阶段做了什么：漏斗、丢弃与保留的文本、带掩码的行",
    ),
    "timings": said("measured time and memory of an experiment's stages", "各阶段实测的耗时与内存"),
    "explain": said("what the code of a diagnostic means, with an example and the way out", "解释诊断码：含义、示例与解决办法"),
    "schema": said("write the JSON Schemas of the spec", "生成规格的 JSON Schema"),
}
WITHOUT_PROJECT = ("explain",)
FLAGS = ("--json", "--memory", "--layouts", "--dropped", "--sample", "--clusters", "--source")
WITH_VALUE = ("--dropped", "--sample", "--source")  # of these, the first two may stand alone


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. A user's mistake never ends in a traceback."""
    _never_fail_to_print()
    rest, language = chosen_language(sys.argv[1:] if arguments is None else arguments)
    with speaking(language):
        return _run(_flags_first(_as_text(rest)))


def _run(arguments: Sequence[str]) -> int:
    top = parser(next((one for one in arguments if one in COMMANDS), None))
    options = top.parse_args(arguments)
    if "=" in (getattr(options, "name", None) or ""):
        top.error(
            in_language(
                said(
                    f"an override needs the experiment before it: mindspec {options.command} NAME {options.name}",
                    f"覆盖项之前要写实验名：mindspec {options.command} NAME {options.name}",
                )
            )
        )
    command = importlib.import_module(f"compiler.command.{options.command}")
    try:
        project = None if options.command in WITHOUT_PROJECT else find_project(Path.cwd())
        return command.run(project, options)
    except Faults as faults:
        report_faults(faults, as_json=options.json)
        return 1
    except KeyboardInterrupt:
        tell(INTERRUPTED)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        tell(told_with_file(error))
        return 1
    except Exception:
        return _unforeseen()


INTERRUPTED = said("interrupted; what was finished stays, run it again", "已中断；已完成的部分会保留，重新运行即可")


def tell(text: str) -> None:
    """A line for a person, on standard error."""
    print(f"mindspec: {in_language(text)}", file=sys.stderr)


def chosen_language(arguments: Sequence[str]) -> tuple[list[str], Language]:
    """The arguments without `--lang`, which may stand anywhere, and the language: the one it names, or the locale's."""
    rest: list[str] = []
    language: Language = language_of(os.environ)
    waiting = iter(arguments)
    for one in waiting:
        if one != "--lang" and not one.startswith("--lang="):
            rest.append(one)
            continue
        named = one.partition("=")[2] if "=" in one else next(waiting, "")
        if named not in LANGUAGES:
            with speaking(language):
                _refuse_language(named)
        language = "zh" if named == "zh" else "en"
    return rest, language


def _refuse_language(named: str) -> NoReturn:
    known = listed(LANGUAGES)
    message = said(f"--lang: {named!r} is not one of {known}", f"--lang：{named!r} 不是 {known.zh} 之一")
    CommandParser(prog="mindspec", usage="mindspec [--lang {en,zh}] COMMAND ...").error(message)


def _as_text(arguments: Sequence[str]) -> list[str]:
    """Arguments that the locale could not decode, as the UTF-8 that they are. Exits with code 2 for one that is no text at all."""
    texts: list[str] = []
    for one in arguments:
        try:
            texts.append(os.fsencode(one).decode("utf-8") if any("\ud800" <= char <= "\udfff" for char in one) else one)
        except UnicodeError:
            message = said(f"the argument {one!r} is not UTF-8", f"参数 {one!r} 不是 UTF-8")
            CommandParser(prog="mindspec", usage="mindspec COMMAND ...").error(message)
    return texts


def _never_fail_to_print() -> None:
    """Text that the encoding of the terminal lacks (Chinese in a Latin-1 locale) is shown as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _unforeseen() -> int:
    """A fault of ours: the traceback goes to a file, the user gets its name."""
    story = traceback.format_exc()
    log = Path(".mindspec/error.log")
    try:
        log = find_project(Path.cwd()).root / log
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(story, "utf-8")
        where = said(f"the whole story is in {log}", f"完整记录见 {log}")
    except (OSError, Faults):
        where = said("it could not be written down", "记录未能写入文件")
    last = story.splitlines()[-1]
    tell(said(f"a fault of mindspec itself: {last}; {where}", f"mindspec 自身出错：{last}；{where.zh}"))
    return 3


def print_json(content: object, *, indent: int | None = None) -> None:
    """Data on standard output: in ASCII where its encoding could lack a character, since escapes of a terminal are not those of JSON."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "").replace("_", "")
    print(json.dumps(content, ensure_ascii=not encoding.startswith("utf"), allow_nan=False, indent=indent))


def report_faults(faults: Faults, *, as_json: bool) -> None:
    """All faults: as data on standard output, or as text on standard error."""
    if as_json:
        print_json({"ok": False, "diagnostics": [one.as_dict() for one in faults.diagnostics]}, indent=2)
    else:
        print(render(faults.diagnostics, colour=sys.stderr.isatty()), file=sys.stderr)


def report_warnings(warnings: Sequence[Diagnostic]) -> None:
    """What does not keep an experiment from being compiled, on standard error."""
    if warnings:
        print(render(warnings, colour=sys.stderr.isatty()), file=sys.stderr)


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The parser of all commands, its help in the language that is spoken.

    With `only`, the others are known by name alone: to load what they need takes longer than to check an experiment.
    """
    about = said("One spec, compiled into DVC stages and mindformers configurations.", "一份规格，编译为 DVC 阶段与 mindformers 配置。")
    top = CommandParser(prog="mindspec", description=in_language(about))
    _add_language(top)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        shown = in_language(summary)
        sub = commands.add_parser(name, help=shown, description=f"{shown[0].upper()}{shown[1:]}{in_language(said('.', '。'))}")
        data = said("results as JSON on standard output", "以 JSON 格式输出结果")
        sub.add_argument("--json", action="store_true", help=in_language(data))
        _add_language(sub)
        if only in (None, name):
            importlib.import_module(f"compiler.command.{name}").add_arguments(sub)
    return top


def _flags_first(arguments: Sequence[str]) -> list[str]:
    """Flags right behind the command: argparse cannot read an option between the name and the overrides."""
    flags: list[str] = []
    rest: list[str] = []
    waits = False  # whether the next word may belong to the last flag
    for one in arguments:
        if waits and _belongs(one, flags[-1], rest):
            flags[-1] += f"={one}"
            waits = False
        elif one.partition("=")[0] in FLAGS:
            flags.append(one)
            waits = one in WITH_VALUE
        else:
            rest.append(one)
            waits = False
    lacking = [one for one in flags if one == "--source"]
    closed = [f"{one}=" if one in ("--dropped", "--sample") else one for one in flags if one != "--source"]
    return [*rest[:1], *closed, *rest[1:], *lacking]


def _belongs(word: str, option: str, before: Sequence[str]) -> bool:
    """Whether a word is the value of the option in front of it, and not a name or stage: `--dropped clean` names the stage."""
    if option == "--sample":
        return re.fullmatch(r"-?[0-9]+", word) is not None
    if option == "--source":
        return not word.startswith("-")
    from runtime.contracts.registry import BY_NAME

    return not word.startswith("-") and len(before) > 1 and word not in BY_NAME


def _add_language(parser: argparse.ArgumentParser) -> None:
    """For the help alone: `chosen_language` has taken it out before, since it may stand anywhere."""
    words = said("language of messages; the locale's by default", "消息的语言；默认取自区域设置")
    parser.add_argument("--lang", choices=LANGUAGES, help=in_language(words))


def add_experiment_arguments(sub: argparse.ArgumentParser) -> None:
    """NAME and Hydra overrides; without a name, the selection of `params.yaml`."""
    name = said("experiment; without one, those that params.yaml selects", "实验名；省略时为 params.yaml 所选的实验")
    overrides = said("Hydra overrides, such as finetune.lora.rank=16", "Hydra 覆盖项，例如 finetune.lora.rank=16")
    sub.add_argument("name", nargs="?", help=in_language(name))
    sub.add_argument("overrides", nargs="*", metavar="key=value", help=in_language(overrides))


if __name__ == "__main__":
    sys.exit(main())
