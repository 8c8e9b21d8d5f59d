"""How a stage ends: done, refused, interrupted or failed, each said in its own way and left in `logs/<stage>.fault.json`."""

import errno
import json
import sys
import traceback
from collections import deque
from pathlib import Path

from runtime.contracts.base import Contract
from runtime.faults import StageFault
from runtime.stage import execute

TAIL = 20
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


def ended(contract: Contract) -> int:
    """Run a stage and return its exit code."""
    log = Path("logs") / f"{contract.name}.log"
    log.with_suffix(".fault.json").unlink(missing_ok=True)
    try:
        execute(contract)
    except StageFault as fault:
        return _refused(contract.name, fault, log)
    except KeyboardInterrupt:
        print(f"mindspec: {contract.name}: interrupted; nothing half-written is left, run it again", file=sys.stderr)
        return 130
    except OSError as error:
        return _refused(contract.name, _disk_fault(error), log) if error.errno in OF_THE_DISK else _failed(contract.name, log)
    except Exception:
        return _failed(contract.name, log)
    return 0


def _disk_fault(error: OSError) -> StageFault:
    return StageFault(
        error.strerror or str(error),
        where=str(error.filename or ""),
        fix="make room or mend the rights, then run it again; what was finished before stays",
    )


def _refused(name: str, fault: StageFault, log: Path) -> int:
    print(f"mindspec: {name}: {fault}", file=sys.stderr)
    _leave(log, {"kind": "refused", **fault.as_dict()})
    return 1


def _failed(name: str, log: Path) -> int:
    """An error nobody foresaw: the whole story goes to the log, the end of it to the terminal."""
    story = traceback.format_exc()
    _leave(log, {"kind": "failed"})
    try:
        with log.open("a", encoding="utf-8") as file:
            file.write(story)
        with log.open(encoding="utf-8", errors="replace") as file:
            tail = list(deque(file, TAIL))
    except OSError:
        tail = story.splitlines(keepends=True)[-TAIL:]
    print(f"mindspec: {name} failed; the end of {log}:", file=sys.stderr)
    sys.stderr.writelines(f"  | {line.rstrip()}\n" for line in tail)
    print(f"  run it again: cd experiments/{Path.cwd().name} && python -m runtime {name}", file=sys.stderr)
    return 3


def _leave(log: Path, content: dict[str, str]) -> None:
    try:
        log.parent.mkdir(exist_ok=True)
        log.with_suffix(".fault.json").write_text(json.dumps(content, ensure_ascii=False) + "\n", "utf-8")
    except OSError:
        pass  # a full disk must not hide the message
