"""`mindspec baseline set NAME --from EXPERIMENT[@REV]`: keep an experiment's scores as a committed file."""

import argparse
import json
import re
import subprocess
import sys
from typing import Any, cast

from compiler.diagnostics import Diagnostic, Faults
from compiler.emit.write import write_files
from compiler.project import Project
from compiler.wording import in_language, said

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
PARTS = {"record": "record.json", "evaluate": "metrics/evaluate.json"}


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """`set` and `list`."""
    actions = sub.add_subparsers(dest="action", required=True, metavar="ACTION")
    put = actions.add_parser("set", help=in_language(said("write baselines/NAME.json", "写出 baselines/NAME.json")))
    put.add_argument("name", metavar="NAME", help=in_language(said("letters a-z, digits and dashes", "字母 a-z、数字和连字符")))
    put.add_argument(
        "--from",
        dest="source",
        required=True,
        metavar="EXPERIMENT[@REV]",
        help=in_language(said("an experiment, as it stands or in a Git revision", "实验名；取现有结果，或取某个 Git 版本的结果")),
    )
    actions.add_parser("list", help=in_language(said("the baselines of this project", "本项目的基线")))


def run(project: Project, options: argparse.Namespace) -> int:
    """Raises Faults where the experiment has no record, the revision does not exist, or the name is not one."""
    if options.action == "list":
        names = sorted(path.stem for path in (project.root / "baselines").glob("*.json"))
        print(json.dumps(names) if options.json else "\n".join(names))
        return 0
    if not NAME.fullmatch(options.name):
        message = said(f"{options.name!r} is not a name", f"{options.name!r} 不能用作名称")
        raise Faults([Diagnostic("MS0033", message, fix=said("use letters a-z, digits and dashes", "请用字母 a-z、数字和连字符"))])
    experiment, at, revision = options.source.partition("@")
    if not NAME.fullmatch(experiment) or (at and not revision) or revision.startswith("-"):
        fix = said(
            "write EXPERIMENT, or EXPERIMENT@REV with a branch, a tag or a commit", "请写 EXPERIMENT，或 EXPERIMENT@REV（分支、标签或提交）"
        )
        raise Faults([Diagnostic("MS0033", said(f"{options.source!r} names no experiment", f"{options.source!r} 不是实验"), fix=fix)])
    content: dict[str, Any] = {"experiment": experiment}
    content |= {key: _read(project, f"experiments/{experiment}/{path}", revision) for key, path in PARTS.items()}
    path = f"baselines/{options.name}.json"
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    changed = write_files(project.root, {path: text.encode()})
    print(json.dumps({"ok": True, "path": path, "changed": bool(changed)}) if options.json else path)
    if not changed and not options.json:
        print(in_language(said("already so", "内容相同，无需更改")), file=sys.stderr)
    return 0


def _read(project: Project, path: str, revision: str) -> Any:
    try:
        raw = _committed(project, path, revision) if revision else (project.root / path).read_bytes()
        content = json.loads(raw, parse_constant=_no_number)
        if not isinstance(content, dict):
            raise ValueError("not a mapping")
        return cast(dict[str, Any], content)
    except (FileNotFoundError, NotADirectoryError):
        name = path.split("/")[1]
        fix = said(f"run the experiment first: mindspec run {name}", f"请先运行实验：mindspec run {name}")
        raise Faults([Diagnostic("MS0031", said(f"{path} does not exist", f"{path} 不存在"), fix=fix)]) from None
    except ValueError as error:
        fix = said("delete it and run the experiment again", "请删除它并重新运行实验")
        raise Faults([Diagnostic("MS0031", said(f"{path} is no record: {error}", f"{path} 不是有效的记录：{error}"), fix=fix)]) from None


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")


def _committed(project: Project, path: str, revision: str) -> bytes:
    shown = subprocess.run(["git", "show", f"{revision}:./{path}"], cwd=project.root, capture_output=True, check=False)
    if shown.returncode:
        known = subprocess.run(
            ["git", "rev-parse", "-q", "--verify", f"{revision}^{{commit}}"], cwd=project.root, capture_output=True, check=False
        )
        if known.returncode:
            message = said(f"{revision!r} is not a revision of this repository", f"{revision!r} 不是本仓库的版本")
            raise Faults([Diagnostic("MS0032", message, fix=said("name a branch, a tag or a commit", "请写分支、标签或提交"))])
        name = path.split("/")[1]
        fix = said(f"name a revision in which {name} had been run", f"请指定 {name} 已运行过的版本")
        raise Faults([Diagnostic("MS0031", said(f"{revision} holds no {path}", f"{revision} 中没有 {path}"), fix=fix)])
    return shown.stdout
