"""What is sound of a spec that has faults: its sections without the faulty fields, so that all others can still be judged.

A field that is left out raises AttributeError when it is read, as Python has it for any attribute that is not there;
`gap` tells that from a fault of ours.
"""

from collections.abc import Collection, Mapping
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from compiler.diagnostics import Diagnostic
from compiler.source import Path, children
from compiler.spec import Spec
from compiler.spec.declare import Section

S = TypeVar("S", bound=Section)
_NOTHING: Any = object()


def broken_paths(faults: Collection[Diagnostic]) -> frozenset[Path]:
    """Where the faults are. A key that nobody knows leaves a gap also where it was meant to stand."""
    meant = (fault.suggestion for fault in faults if fault.code == "MS0201" and fault.suggestion)
    return frozenset({*(fault.path for fault in faults if fault.path), *(tuple(path.split(".")) for path in meant)})


def sound_part(kind: type[S], values: Mapping[str, Any], broken: Collection[Path], path: Path = ()) -> S:
    """A section at `path` with every field that is sound; those at a broken path are not there."""
    below = _by_next(broken, path)
    fields = ((name, _field(info, name, values, below.get(name, ()), path)) for name, info in kind.model_fields.items())
    sound = {name: value for name, value in fields if value is not _NOTHING}
    made = kind.model_construct(_fields_set=set(sound), **sound)
    for name in kind.model_fields.keys() - sound.keys():
        vars(made).pop(name, None)  # pydantic has put the default there
    return made


def _field(info: FieldInfo, name: str, values: Mapping[str, Any], broken: Collection[Path], above: Path) -> Any:
    path = (*above, name)
    if path in broken:
        return _NOTHING
    if broken:
        return _around(info.annotation, values.get(name, {}), broken, path)
    if name not in values:
        return _NOTHING if info.is_required() else info.get_default(call_default_factory=True)
    return _typed(info, values[name])


def _by_next(broken: Collection[Path], path: Path) -> Mapping[Any, list[Path]]:
    """Paths below `path` by their next part."""
    found: dict[Any, list[Path]] = {}
    for one in broken:
        if len(one) > len(path) and one[: len(path)] == path:
            found.setdefault(one[len(path)], []).append(one)
    return found


def _typed(info: FieldInfo, value: Any) -> Any:
    kind: Any = Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation  # type: ignore[valid-type]
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return _NOTHING


def _around(annotation: Any, value: object, broken: Collection[Path], path: Path) -> Any:
    """What is left around a fault: of a section its other fields, of a map of sections the other ones. A list falls as a whole."""
    section, values = _section(annotation), dict(children(value))
    if not isinstance(value, Mapping):
        return _NOTHING
    if section is not None:
        return sound_part(section, values, broken, path)
    item = _section(get_args(annotation)[1]) if get_origin(annotation) is dict else None
    if item is None:
        return _NOTHING
    below = _by_next(broken, path)
    return {
        key: sound_part(item, dict(children(entry)), _of_entry(below.get(key, ()), (*path, key), item), (*path, key))
        for key, entry in sorted(values.items())
    }


def _of_entry(broken: Collection[Path], here: Path, item: type[Section]) -> Collection[Path]:
    """An entry that is broken as a whole stays as one without fields, so that nobody takes it for absent."""
    return {*broken, *((*here, name) for name in item.model_fields)} if here in broken else broken


def _section(annotation: Any) -> type[Section] | None:
    """The section in a type: itself, or one branch of a union."""
    candidates = (annotation, *get_args(annotation)) if get_origin(annotation) is not dict else ()
    return next((kind for kind in candidates if isinstance(kind, type) and issubclass(kind, Section)), None)


def gap(error: AttributeError) -> bool:
    """Whether a declared field was read that is not there, since it is faulty."""
    section: Any = error.obj
    return isinstance(section, Section) and error.name in type(section).model_fields and error.name not in vars(section)


def holder(spec: Spec, section: object) -> str | None:
    """The top-level field of a spec that holds a section, by identity."""
    return next((name for name, value in vars(spec).items() if _holds(value, section)), None)


def _holds(value: object, section: object) -> bool:
    below = vars(value) if isinstance(value, Section) else value
    return value is section or any(_holds(item, section) for _, item in children(below))


def without(spec: Spec, name: str) -> Spec:
    """A spec that lacks a top-level field."""
    rest = spec.model_copy()
    vars(rest).pop(name, None)
    rest.model_fields_set.discard(name)
    return rest
