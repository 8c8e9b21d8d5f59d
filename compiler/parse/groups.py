"""The groups of a project, folders below `specs/`, and the options in them: what an override or a defaults list may choose."""

import os
from dataclasses import dataclass
from pathlib import Path

from compiler.diagnostics import Diagnostic
from compiler.source import Place
from compiler.suggest import closest, did_you_mean, offered
from compiler.wording import listed, said

_NO_CHOICE = ("schema", "template", "prompt")  # folders of specs/ that hold something else than parts of a spec


@dataclass(frozen=True)
class Groups:
    """`specs` is the folder."""

    specs: Path

    def exists(self, name: str) -> bool:
        """Whether there is a group of this name, such as `model`."""
        return name.replace("/", "").replace("_", "").replace("-", "").isalnum() and os.path.isdir(self.specs / name)

    def names(self) -> list[str]:
        """All groups of the first level that hold a file."""
        return sorted({file.parent.name for file in self.specs.glob("*/*.yaml")} - set(_NO_CHOICE))

    def options(self, name: str) -> list[str]:
        """The options of a group, such as `llama-tiny`."""
        return sorted(file.stem for file in (self.specs / name).glob("*.yaml") if not file.is_dir())

    def has(self, name: str, option: str) -> bool:
        """Whether an option of a group exists; its name may be a path, and end in .yaml."""
        inside = ".." not in option.split("/")
        return inside and os.path.isfile(self.specs / name / f"{option.removesuffix('.yaml')}.yaml")

    def no_option(self, name: str, option: str, place: Place | None, key: str = "") -> Diagnostic:
        """The fault of an option that is not there; `key` is what stands before the `=` of an override."""
        options = self.options(name)
        meant = closest(option, options)
        hint = did_you_mean(meant) if meant else said("", "")
        known = (
            said(f"known: {offered(option, options)}", f"可用的有：{offered(option, options).zh}")
            if options
            else said(f"there is no file specs/{name}/{option}.yaml", f"没有文件 specs/{name}/{option}.yaml")
        )
        return Diagnostic(
            "MS0106",
            said(f"{name} has no option {option}", f"配置组 {name} 没有选项 {option}"),
            place,
            fix=said(f"{hint} {known}".lstrip(), f"{hint.zh}{known.zh}"),
            suggestion=f"{key}={meant}" if key and meant else meant or "",
        )

    def no_group(self, name: str, place: Place | None) -> Diagnostic:
        """The fault of a group that is not there."""
        meant = closest(name.rpartition("/")[2], self.names())
        hint = did_you_mean(f"/{meant}") if meant else said("", "")
        known = listed(self.names())
        return Diagnostic(
            "MS0115",
            said(f"there is no group {name}", f"没有配置组 {name}"),
            place,
            reason=said("a group is a folder of specs/; its options are the files in it", "配置组是 specs/ 下的文件夹，其中的文件就是选项"),
            fix=said(f"{hint} known: {known}".lstrip(), f"{hint.zh}可用的有：{known.zh}"),
            suggestion=f"/{meant}" if meant else "",
        )
