"""Three tiny packages in the layout of the real ones, and the script loaded from its path."""

import dataclasses
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
PAGE = "<html><body><h1>{title}</h1><div class='para'>\n\t{text}\n</div></body></html>"


def load_snapshot() -> ModuleType:
    spec = importlib.util.spec_from_file_location("data_snapshot", ROOT / "data" / "snapshot.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["data_snapshot"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def snapshot() -> ModuleType:
    return load_snapshot()


def write_handbook(package: Path) -> None:
    for folder, sentence in (
        ("en-US", "Package number {n} is installed by the command shown here."),
        ("zh-CN", "第{n}号软件包由这里的命令安装。"),
    ):
        (package / "html" / folder).mkdir(parents=True)
        for n in range(60):
            page = PAGE.format(title=n, text=sentence.format(n=n))
            (package / "html" / folder / f"page{n}.html").write_text(page, encoding="utf-8", newline="")
    (package / "copyright").write_bytes(b"the terms\r\nas they came\r\n")


def poem(n: int) -> dict[str, object]:
    digits = f"{n:03d}".translate(str.maketrans("0123456789", "零一二三四五六七八九"))
    lines = [f"{digits}山水，風月入江來。"] if n % 2 else [f"{digits}山水風月，春日江邊人自來。"]
    return {"title": f"其{n}", "author": "某", "paragraphs": [*lines, "夜深花落盡，相見又三年。"]}


def write_poetry(package: Path) -> None:
    for folder in ("quantangshi", "lunyu"):
        (package / "dist" / folder).mkdir(parents=True)
    for dynasty, start in (("tang", 0), ("song", 400)):
        for part, first in ((9000, 0), (10000, 60)):
            poems = [poem(n) for n in range(start + first, start + first + 60)]
            target = package / "dist" / "quantangshi" / f"poet.{dynasty}.{part}.json"
            target.write_text(json.dumps(poems, ensure_ascii=False), encoding="utf-8")
    chapters = [{"chapter": "学而篇", "paragraphs": ["子曰：“学而时习之，不亦说乎？”"]}]
    (package / "dist" / "lunyu" / "lunyu.json").write_text(json.dumps(chapters), encoding="utf-8")
    (package / "LICENSE").write_bytes(b"MIT\n")


TALKS = {
    "english/greetings.yml": "conversations:\n- - Hello\n  - Hi\n  - How are you?\n- - hello\n  - Hi\n- lonely\n",
    "english/emotion.yml": "conversations:\n- - Are you sad\n  - Not now.\n  - Never.\n",
    "english/politics.yml": "conversations:\n- - Who rules\n  - Nobody.\n",
    "english/trivia.yml": "conversations:\n- - Who was the president\n  - Somebody\n- - When\n  - 1999\n",
    "english/food.yml": "conversations:\n- - Do you eat\n  - Only electricity.\n",
    "chinese/greetings.yml": "conversations:\n- - 你好\n  - 嗨\n- - 问\n  - " + "长" * 51 + "\n",
    "chinese/emotion.yml": "conversations:\n- - 你伤心吗\n  - 你感觉\n",
    "chinese/history.yml": "conversations:\n- - 谁发明了蒸汽机\n  - 瓦特。\n",
    "traditionalchinese/greetings.yml": "conversations:\n- - 你好\n  - 嗨\n",
}


def write_dialogues(package: Path) -> None:
    for name, text in TALKS.items():
        target = package / "chatterbot_corpus" / "data" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    (package / "license.md").write_bytes(b"BSD\n")


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("packages")
    folders = {name: root / name for name in ("handbook", "poetry", "dialogues")}
    write_handbook(folders["handbook"])
    write_poetry(folders["poetry"])
    write_dialogues(folders["dialogues"])
    return folders


@pytest.fixture(scope="session")
def files(snapshot: ModuleType, packages: dict[str, Path]) -> dict[str, bytes]:
    """The snapshot of the tiny packages, with so few rows a task that every task finds passages."""
    tasks = snapshot.TASKS
    snapshot.TASKS = tuple(dataclasses.replace(task, training_rows=16, evaluation_rows=4) for task in tasks)
    try:
        return snapshot.build(**packages)
    finally:
        snapshot.TASKS = tasks
