"""`mindspec schema`: write the JSON Schemas below `specs/schema`, and the reference of all fields."""

import argparse

from compiler import field_reference, schema
from compiler.cli import print_json
from compiler.project import Project
from compiler.wording import in_language, said


def add_arguments(sub: argparse.ArgumentParser) -> None:
    """--docs."""
    docs = said("write the reference of all fields below docs too", "同时写出 docs 下的字段参考")
    sub.add_argument("--docs", action="store_true", help=in_language(docs))


def run(project: Project, options: argparse.Namespace) -> int:
    """Both are generated from the declaration of each field."""
    schema.write(project.root)
    if options.docs:
        field_reference.write(project.root)
    if options.json:
        print_json({"ok": True})
    return 0
