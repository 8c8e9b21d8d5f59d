"""`mindspec schema`: write the JSON Schemas below `specs/schema`."""

import argparse

from compiler import schema
from compiler.project import Project


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(project: Project, options: argparse.Namespace) -> int:
    """The schemas are generated from the declaration of each field."""
    schema.write(project.root)
    return 0
