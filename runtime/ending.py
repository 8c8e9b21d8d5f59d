"""How a stage ends: done, refused, interrupted or failed, each said in its own way and left in `logs/<stage>.fault.json`."""

import errno
import json
import os
import re
import resource
import sys
import traceback
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from runtime.contracts.base import Contract
from runtime.faults import StageFault
from runtime.stage import execute

TAIL = 20
OF_THE_DISK = (
    errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO, errno.EBUSY,
    errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip
# Libraries that write files of their own say it in words: the system's, and those of MindRecord.
IN_WORDS = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT), os.strerror(errno.EFBIG), "No free disk")
OF_MEMORY = (  # the loader's words, those of Zstandard, of threads, of the system and of C++
    "failed to map segment from shared object", "not enough memory", "can't start new thread", os.strerror(errno.ENOMEM), "std::bad_alloc",
)  # fmt: skip
CUT_SHORT = re.compile(r"\d+ requested and \d+ written")  # NumPy's, without a number, where a write did not go through


def ended(contract: Contract) -> int:
    """Run a stage and return its exit code."""
    log = Path("logs") / f"{contract.name}.log"
    try:
        log.with_suffix(".fault.json").unlink(missing_ok=True)
        execute(contract)
    except StageFault as fault:
        return _refused(contract.name, fault, log)
    except (Exception, KeyboardInterrupt) as error:
        if interrupted(error):
            print(f"mindspec: {contract.name}: interrupted; nothing half-written is left, run it again", file=sys.stderr)
            _leave(log, {"kind": "interrupted"})
            return 130
        fault = memory_fault(error) or disk_fault(error)
        return _refused(contract.name, fault, log) if fault else _failed(contract.name, log)
    return 0


def interrupted(error: BaseException | None) -> bool:
    """Whether somebody pressed Ctrl-C; a library that is being loaded tells it as a failure to load."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or interrupted(error.__cause__ or error.__context__))


def memory_fault(error: BaseException) -> StageFault | None:
    """The fault where memory ran out, in this process or a worker, however a library tells it; None for any other error."""
    told = next((one for one in _chain(error) if isinstance(one, MemoryError) or _tells_of_memory(one)), None)
    if told is None:
        return None
    limit, reason = resource.getrlimit(resource.RLIMIT_AS)[0], (str(told).strip().splitlines() or ["no more could be had"])[-1]
    allowed = "" if limit == resource.RLIM_INFINITY else f"; a process may have {limit // 10**6} MB (ulimit -v)"
    fix = "give the machine more memory, raise ulimit -v, or set launch.workers to fewer, then run it again; what was finished before stays"
    return StageFault("memory ran out", f"experiments/{Path.cwd().name}", reason + allowed, fix)


def _tells_of_memory(error: BaseException) -> bool:
    return (isinstance(error, OSError) and error.errno == errno.ENOMEM) or any(words in str(error) for words in OF_MEMORY)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error and those that it came of, the traceback that a worker sends along included."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def disk_fault(error: BaseException) -> StageFault | None:
    """The fault where it is the disk that refused; None for any other error."""
    fix = "make room, mend the rights or move away what stands there, then run it again; what was finished before stays"
    if isinstance(error, OSError) and error.errno in OF_THE_DISK:
        return StageFault(error.strerror or str(error), where=str(error.filename or f"experiments/{Path.cwd().name}"), fix=fix)
    if any(words in str(error) for words in IN_WORDS) or (isinstance(error, OSError) and CUT_SHORT.fullmatch(str(error))):
        return StageFault(os.strerror(errno.ENOSPC), where=f"experiments/{Path.cwd().name}", fix=fix)
    return None


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
        pass  # a full disk must not hide the message; what is cut short is not read
