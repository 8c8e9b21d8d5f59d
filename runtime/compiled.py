"""Files that the compiler wrote, read back. One that was edited or damaged is refused at its place, whatever stands in it."""

import json
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import TypeAdapter, ValidationError

from runtime.faults import StageFault

JSON = dict[str, Any]
FIX = "run `mindspec compile`"


class Settings(JSON):
    """A mapping of a mindformers YAML, which has no record of its own. Raises StageFault for a key that it lacks."""

    def __init__(self, content: JSON, where: str) -> None:
        super().__init__({key: _settings(value, where) for key, value in content.items()})
        self._where = where

    def __missing__(self, key: str) -> Any:
        raise StageFault(f"{key} is missing", where=self._where, reason="the file is not what the compiler writes", fix=FIX)


def _settings(value: Any, where: str) -> Any:
    if isinstance(value, dict):
        return Settings(value, where)
    return [_settings(item, where) for item in value] if isinstance(value, list) else value


def read_yaml(path: Path) -> JSON:
    """Read a compiled YAML file. Raises StageFault where it is missing, is not YAML, or is not a mapping."""
    try:
        content: Any = yaml.safe_load(_text(path))
    except yaml.MarkedYAMLError as error:
        at = f":{error.problem_mark.line + 1}:{error.problem_mark.column + 1}" if error.problem_mark else ""
        raise StageFault(f"not YAML: {error.problem}", where=f"{path}{at}", fix=FIX) from None
    except (yaml.YAMLError, ValueError) as error:  # a character that YAML forbids; a date that no calendar has
        raise StageFault(f"not YAML: {' '.join(str(error).split())}", where=str(path), fix=FIX) from None
    return _mapping(content, path)


def read_json(path: Path) -> JSON:
    """Read a compiled JSON file. Raises StageFault where it is missing, is not JSON, or is not an object."""
    try:
        return _mapping(json.loads(_text(path)), path)
    except json.JSONDecodeError as error:
        raise StageFault(f"not JSON: {error.msg}", where=f"{path}:{error.lineno}:{error.colno}", fix=FIX) from None


def validated(shape: type[Any], content: JSON, where: str) -> Any:
    """The content as a typed record. Raises StageFault that lists everything that is unknown, missing or of another type."""
    try:
        return TypeAdapter(shape).validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
    except (TypeError, ValueError) as error:  # what YAML has and JSON has not: dates, sets, values that hold themselves
        wrong = str(error)
    raise StageFault(wrong, where=where, reason="the file is not what the compiler writes", fix=FIX)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise StageFault(f"{path} is missing", where=str(path), fix=f"{FIX}, and start stages in the experiment folder") from None
    except UnicodeDecodeError as error:
        raise StageFault(f"byte {error.start} is not UTF-8", where=str(path), fix=FIX) from None


def _mapping(content: Any, path: Path) -> JSON:
    if not isinstance(content, dict):
        raise StageFault("not a mapping", where=str(path), fix=FIX)
    return cast(JSON, content)
