"""Figures of a stage are its own."""

import subprocess
import sys

LARGE = """
import subprocess, sys
held = bytearray(400 << 20)
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""
OWN = """
import resource
from runtime.timing import resident_at_most
before, counted = resident_at_most(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
held = bytearray(100 << 20)
print(before, resident_at_most(), counted)
"""


def test_the_memory_of_whoever_starts_a_stage_is_not_the_memory_of_the_stage() -> None:
    told = subprocess.run([sys.executable, "-c", LARGE, OWN], check=True, capture_output=True, text=True).stdout
    before, after, counted = map(int, told.split())
    assert counted > 400 << 20, "the system counts what started the process"
    assert before < 100 << 20 <= after < 250 << 20
