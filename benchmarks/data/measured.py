"""Run a command and say what it took: `python measured.py COMMAND ...` prints JSON, and ends as the command ends.

It stands between a large process and the command, because the kernel counts the memory of the process that starts a command into
the largest resident set of that command.
"""

import json
import os
import subprocess
import sys


def main(command: list[str]) -> int:
    """User and system time of the command and its children, and the largest resident set among them."""
    process = subprocess.Popen(command, stdout=sys.stderr)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    print(json.dumps({"cpu_seconds": usage.ru_utime + usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
