"""What the pages say is so: commands, options, files, make targets, links, excerpts, examples and scores."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

import pytest

from compiler.cli import COMMANDS, main, parser
from compiler.codes import CODES
from compiler.command.metrics_table import SHOWN, read_headline
from compiler.pipeline import compile_experiment
from compiler.project import Project
from runtime.contracts.registry import CONTRACTS

ROOT = Path(__file__).parents[2]
READMES = ("README.md", "README.zh.md")
PAGES = (*READMES, "CONTRIBUTING.md", "CHANGELOG.md")

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"\.?[\w*][\w.*-]*(/[\w.*-]+)*/?")
SUFFIXES = {".yaml", ".json", ".md", ".py", ".html", ".lock", ".csv", ".svg", ".toml", ".mindir", ".txt", ".log", ".dvc"}
STANDS_FOR = {"NAME": "demo", "STAGE": "clean", "CODE": "MS0301", "N": "3"}
# Made by a command of the page, by DVC or by others, beside what the stages declare.
MADE = {
    "config.json", "dvc.lock", "comparison.html", "comparison.json", "baselines/demo.json", "manifest.json", "data/raw/notes.dvc",
    ".venv", "timings", "logs", ".scratch", ".mindspec/error.log", "experiments/demo",
}  # fmt: skip

Page = str


def text_of(page: Page) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def blocks(page: Page) -> list[tuple[str, str]]:
    """(language, content) of each fenced block."""
    return FENCE.findall(text_of(page))


def prose(page: Page) -> str:
    return FENCE.sub("", text_of(page))


def command_lines(page: Page) -> list[str]:
    return [line for language, content in blocks(page) if language == "bash" for line in content.splitlines()]


def codes(page: Page) -> list[str]:
    """Inline code, with the brackets of a synopsis taken away, and the lines of shell blocks."""
    return [*(code.translate({ord("["): None, ord("]"): None}) for code in CODE.findall(prose(page))), *command_lines(page)]


def commands(page: Page) -> list[list[str]]:
    """Arguments of every `mindspec` that is named."""
    messages = [line for line in text_of("Makefile").splitlines() if "echo" in line]
    return [
        shlex.split(re.sub(r"\b(STAGE|N)\b", lambda match: STANDS_FOR[match[1]], code))[1:]
        for code in codes(page)
        if code.startswith("mindspec ") and not any(code in message for message in messages)
    ]


def headings(page: Page) -> list[int]:
    return [len(line.split(" ")[0]) for line in prose(page).splitlines() if re.match(r"#+ ", line)]


def sections(page: Page) -> list[str]:
    """The text under each heading of the second level."""
    return re.split(r"^## ", text_of(page), flags=re.MULTILINE)[1:]


def cells(section: str) -> list[list[str]]:
    """Rows of the tables of a section, without heads and rules."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")]
    return [row for number, row in enumerate(rows) if not _is_rule(row) and not (number + 1 < len(rows) and _is_rule(rows[number + 1]))]


def _is_rule(row: list[str]) -> bool:
    return all(re.fullmatch(r":?-+:?", cell) for cell in row)


def examples(page: Page) -> dict[str, str]:
    """Path -> content of the YAML blocks that begin with the name of a file."""
    found = (re.match(r"# (specs/\S+)\n", content) for language, content in blocks(page) if language == "yaml")
    return {match[1]: match.string for match in found if match}


# The two languages


def test_both_languages_have_the_same_sections() -> None:
    first, second = (headings(page) for page in READMES)
    assert first == second
    assert first.count(1) == 1


def test_both_languages_have_the_same_code() -> None:
    first, second = (blocks(page) for page in READMES)
    assert first == second
    assert len(first) > 10


def test_both_languages_have_the_same_tables() -> None:
    shapes = [[[len(row) for row in cells(section)] for section in sections(page)] for page in READMES]
    assert shapes[0] == shapes[1]


def test_both_languages_name_the_same_things() -> None:
    def named(page: Page) -> set[str]:
        return {code.replace("、", ", ") for code in CODE.findall(prose(page))}

    assert named(READMES[0]) == named(READMES[1])


def markdown() -> list[Page]:
    """Every page of the repository that people write or read."""
    listed = subprocess.run(["git", "ls-files", "-z", "*.md"], cwd=ROOT, capture_output=True, check=True, text=True)
    return list(filter(None, listed.stdout.split("\0")))


def test_no_line_of_text_ends_in_a_backslash() -> None:
    """Markdown would break the line there, in the middle of a sentence."""
    pages = markdown()
    assert "docs/data/looking.zh.md" in pages
    lines = [(page, line) for page in pages for line in prose(page).splitlines() if not line.startswith("    ")]
    assert [(page, line) for page, line in lines if line.endswith("\\")] == []


# Commands


@pytest.mark.parametrize("page", PAGES)
def test_commands_are_understood(page: Page) -> None:
    for arguments in commands(page):
        assert parser().parse_args(arguments).command == arguments[0]


@pytest.mark.parametrize("page", READMES)
def test_all_commands_are_described(page: Page) -> None:
    assert {command for command, *_ in commands(page)} == set(COMMANDS)


@pytest.mark.parametrize("page", PAGES)
def test_make_targets_exist(page: Page) -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    named = {code.split()[-1] for code in codes(page) if code.startswith("make ")}
    assert named <= targets
    assert page == "CHANGELOG.md" or named


@pytest.mark.parametrize("page", PAGES)
def test_codes_of_faults_exist(page: Page) -> None:
    assert set(re.findall(r"MS\d{4}", text_of(page))) <= set(CODES)


@pytest.mark.parametrize("page", READMES)
def test_messages_are_those_of_the_programs(page: Page) -> None:
    sources = [path.read_text(encoding="utf-8") for package in ("compiler", "runtime") for path in (ROOT / package).rglob("*.py")]
    quoted = [code for section in sections(page) for row in cells(section) for code in CODE.findall(row[0]) if "... " in code]
    assert len(quoted) >= 3
    for code in quoted:
        for part in filter(None, (part.strip() for part in code.split("..."))):
            assert any(part in source for source in sources), part


# Files and links


@pytest.fixture(scope="module")
def declared() -> set[str]:
    """Paths of an experiment folder that are compiled or that a stage leaves, and the folders above them."""
    compiled = {str(PurePosixPath(path).relative_to("experiments/demo")) for path in compile_experiment(Project(ROOT), "demo").files}
    left = {path for one in CONTRACTS for path in (one.output, *one.records, *one.plots, one.metrics_file)}
    paths = {*compiled, *left}
    return paths | {str(parent) for path in paths for parent in PurePosixPath(path).parents} - {"."}


def paths_in(page: Page) -> Iterator[str]:
    """What looks like a relative path in inline code and in commands."""
    for code in codes(page):
        words = re.sub(r"\b(NAME|STAGE|CODE)\b", lambda match: STANDS_FOR[match[1]], code).replace("=", " ").split()
        yield from (word.rstrip("/") for word in words if PATH.fullmatch(word) and ("/" in word or PurePosixPath(word).suffix in SUFFIXES))


def is_there(path: str, declared: set[str], made: set[str]) -> bool:
    """Whether a path, of a pattern its folder, is in the checkout, left by an experiment, or made by what the page tells to do."""
    path = path.partition("*")[0].rpartition("/")[0] if "*" in path else path
    inner = re.sub(r"^experiments/[a-z0-9-]+/", "", path)
    around = {inner, *map(str, PurePosixPath(inner).parents)}
    below = {one.output for one in CONTRACTS} | made | MADE
    return bool(list(ROOT.glob(path))) or inner in declared or not around.isdisjoint(below)


@pytest.mark.parametrize("page", PAGES)
def test_files_exist_or_are_made(page: Page, declared: set[str]) -> None:
    made = {*examples(page), *(word.rstrip("/") for line in command_lines(page) if line.startswith("mkdir ") for word in line.split()[1:])}
    if page == "CONTRIBUTING.md":
        made |= {path.replace("NAME", "demo") for path in ("runtime/contracts/NAME.py", "runtime/data/NAME.py")}
    assert [path for path in paths_in(page) if not is_there(path, declared, made)] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: Page) -> None:
    relative = [link for link in LINK.findall(prose(page)) if not re.match(r"https?://", link)]
    assert [link for link in relative if not (ROOT / link.split("#")[0]).exists()] == []
    assert page == "CHANGELOG.md" or relative


def test_the_licence_is_the_one_that_is_declared() -> None:
    assert text_of("LICENSE").split()[:4] == ["Apache", "License", "Version", "2.0,"]
    assert '"Apache-2.0"' in text_of("pyproject.toml")


# Examples


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This checkout with specs of its own, as the current folder, after the reader has followed the page."""
    for name in ("compiler", "runtime", "requirements.lock", "params.yaml", ".python-version", *READMES):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    (tmp_path / "data/raw/notes").mkdir(parents=True)
    shutil.copy(ROOT / "README.md", tmp_path / "data/raw/notes")
    for path in [*(ROOT / "data").iterdir(), *(ROOT / "data/raw").iterdir()]:
        if path.name != "raw" and not (tmp_path / path.relative_to(ROOT)).exists():
            (tmp_path / path.relative_to(ROOT)).symlink_to(path)
    for path, content in examples("README.md").items():
        if not (tmp_path / path).exists():
            (tmp_path / path).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_excerpts_are_parts_of_the_files() -> None:
    excerpts = {path: content.partition("\n")[2] for path, content in examples("README.md").items() if (ROOT / path).exists()}
    assert len(excerpts) >= 3
    for path, content in excerpts.items():
        assert content in text_of(path), path


def test_the_example_of_a_wrong_spec(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = next(content for language, content in blocks("README.md") if language == "text")
    assert main(["check", "broken"]) == 1
    assert capsys.readouterr().err == shown


def test_the_example_of_a_plan(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = [content for language, content in blocks("README.md") if language == "text"][1]
    command = next(line for line in command_lines("README.md") if line.startswith("mindspec plan "))
    assert main(shlex.split(command)[1:]) == 0
    told = capsys.readouterr()
    assert shown in told.out and " error " not in told.err


def test_the_other_examples_are_valid(project: Path) -> None:
    checked = [shlex.split(line)[1:] for line in command_lines("README.md") if line.startswith("mindspec check ")]
    assert ["check", "notes"] in checked and len(checked) >= 4
    for arguments in checked:
        assert main(arguments) == 0, arguments


# What is said of stages and results


def rows_of(page: Page, first: str) -> Iterator[list[str]]:
    return (row for section in sections(page) for row in cells(section) if CODE.findall(row[0]) == [first])


@pytest.mark.parametrize("page", READMES)
def test_the_stages_are_listed_in_their_order(page: Page) -> None:
    names = [contract.name for contract in CONTRACTS]
    listed = [CODE.findall(part) for section in sections(page) for part in section.split("\n\n")]
    assert any(codes_there[: len(names)] == names for codes_there in listed)


@pytest.mark.parametrize("page", READMES)
def test_every_result_has_its_place_in_the_layout(page: Page) -> None:
    layout = {code.rstrip("/") for section in sections(page) for row in cells(section) for code in CODE.findall(row[0])}
    for contract in CONTRACTS:
        assert PurePosixPath(contract.output).parts[0] in layout, contract.name


@pytest.mark.parametrize("page", READMES)
def test_what_a_new_rank_reruns(page: Page) -> None:
    before, after = (compile_experiment(Project(ROOT), "demo", overrides).files for overrides in ((), ("finetune.lora.rank=5",)))
    stale: set[str] = set()
    for contract in CONTRACTS:
        changed = before[f"experiments/demo/{contract.config}"] != after[f"experiments/demo/{contract.config}"]
        read = {other.name for other in CONTRACTS if other.output in contract.inputs}
        stale |= {contract.name} if changed or read & stale else set()
    (row,) = rows_of(page, "finetune.lora.rank")
    assert set(CODE.findall(row[1])) == stale


def test_the_picture_shows_every_stage_and_result() -> None:
    picture = text_of("docs/pipeline.svg")
    for contract in CONTRACTS:
        assert f">{contract.name}<" in picture
        assert f">{contract.output}<" in picture


@pytest.fixture
def scores(tmp_path: Path) -> dict[str, dict[str, float | None]]:
    """The scores of the demo that are committed, or about to be: another machine may have made others."""
    name = "metrics/evaluate.json"
    staged = subprocess.run(["git", "show", f":experiments/demo/{name}"], cwd=ROOT, capture_output=True, check=False)
    if staged.returncode:
        pytest.skip("no results of the demo are committed here")
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_bytes(staged.stdout)
    return read_headline(tmp_path)


@pytest.mark.parametrize("page", READMES)
def test_scores_are_those_of_the_demo(page: Page, scores: dict[str, dict[str, float | None]]) -> None:
    rows = {row[0].strip("`"): row[1:] for section in sections(page) for row in cells(section) if row[0].strip("`") in scores}
    assert rows == {model: _spelled(values.get) for model, values in scores.items()}


def _spelled(value_of: Callable[[str], float | None]) -> list[str]:
    """As `mindspec run` prints them."""
    values = ((value_of(metric), digits) for metric, (_, digits) in SHOWN.items())
    return ["-" if value is None else f"{value:.{digits}f}" for value, digits in values]
