"""A MINDIR in canonical form: the same network and weights give the same bytes, whichever process compiled it.

As MindSpore writes it, a model holds a time and an address (`compile_phase`), names that count what else the process
has compiled, and primitives in the order of a hash table. `canonicalize` is given to `mindspore.export` as `custom_func`
and renames by position in the graph instead.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

VOLATILE = "compile_phase"
REFERENCE = "REF::"
Rename = Callable[[str], str]


def canonicalize(model: Any) -> None:
    """Bring a `mind_ir.ModelProto` into canonical form, in place. Parameters keep their own names after the graph's."""
    graphs = [model.graph, *model.functions]
    for graph in graphs:
        _sort_attributes(graph, [attribute for attribute in graph.attribute if attribute.name != VOLATILE])
    graph_names = {graph.name: f"graph{index}" for index, graph in enumerate(graphs)}
    used = _primitives_in_order(model, graphs)
    primitive_names = {primitive.name: f"{primitive.op_type}:{index}" for index, primitive in enumerate(used)}
    rename = _renaming(graph_names, _value_names(graphs), primitive_names)
    for graph in graphs:
        _rename_strings(graph, rename)
    _replace_primitives(model, used, primitive_names)


def _sort_attributes(message: Any, attributes: list[Any]) -> None:
    ordered = [type(a).FromString(a.SerializeToString()) for a in sorted(attributes, key=lambda a: a.name)]
    del message.attribute[:]
    message.attribute.extend(ordered)


def _value_names(graphs: list[Any]) -> dict[str, str]:
    """Every parameter, input and node output by its place: graph and own name, or graph and position of the node."""
    names: dict[str, str] = {}
    for index, graph in enumerate(graphs):
        for value in [*graph.parameter, *graph.map_parameter, *graph.input]:
            names[value.name] = f"graph{index}:{value.name.split(':', 1)[-1]}"
        for position, node in enumerate(graph.node):
            for number, output in enumerate(node.output):
                names.setdefault(output, f"graph{index}:node{position}" + (f".{number}" if number else ""))
    return names


def _primitives_in_order(model: Any, graphs: list[Any]) -> list[Any]:
    """Primitives in the order in which nodes first use them; those no node uses follow, by what they are."""
    by_name = {primitive.name: primitive for primitive in model.primitives}
    references = (node.op_type.removeprefix(REFERENCE) for graph in graphs for node in graph.node if node.op_type.startswith(REFERENCE))
    used = dict.fromkeys(name for name in references if name in by_name)
    unused = sorted(by_name.keys() - used.keys(), key=lambda name: _content(by_name[name]))
    return [by_name[name] for name in [*used, *unused]]


def _content(primitive: Any) -> tuple[str, str, list[bytes]]:
    return (
        primitive.op_type,
        primitive.instance_name,
        sorted(attribute.SerializeToString(deterministic=True) for attribute in primitive.attribute),
    )


def _replace_primitives(model: Any, used: list[Any], names: dict[str, str]) -> None:
    copies = []
    for primitive in used:
        copy = type(primitive).FromString(primitive.SerializeToString())
        copy.name = names[primitive.name]
        _sort_attributes(copy, list(copy.attribute))
        copies.append(copy)
    del model.primitives[:]
    model.primitives.extend(copies)


def _renaming(graphs: dict[str, str], values: dict[str, str], primitives: dict[str, str]) -> Rename:
    longest_first = sorted(map(re.escape, graphs), key=lambda name: (-len(name), name))
    mentioned = re.compile("|".join(longest_first))

    def rename(text: str) -> str:
        if text in values:
            return values[text]
        if text in graphs:
            return graphs[text]
        if text.startswith(REFERENCE):
            target = text.removeprefix(REFERENCE)
            return REFERENCE + (primitives.get(target) or values.get(target) or graphs.get(target) or target)
        return mentioned.sub(lambda found: graphs[found.group()], text)

    return rename


def _rename_strings(message: Any, rename: Rename) -> None:
    """Rename in every text of a message, however deep; the `s` of an attribute holds a text as bytes."""
    for field, value in cast(list[tuple[Any, Any]], message.ListFields()):
        repeated = hasattr(value, "append")
        if field.type == field.TYPE_MESSAGE:
            for inner in _messages(field, value, repeated):
                _rename_strings(inner, rename)
        elif field.type == field.TYPE_STRING and repeated:
            value[:] = [rename(text) for text in value]
        elif field.type == field.TYPE_STRING:
            setattr(message, field.name, rename(value))
        elif field.type == field.TYPE_BYTES and field.name == "s":
            setattr(message, field.name, _renamed_bytes(value, rename))


def _messages(field: Any, value: Any, repeated: bool) -> Iterator[Any]:
    if field.message_type.GetOptions().map_entry:
        return iter(())
    return iter(value if repeated else [value])


def _renamed_bytes(value: bytes, rename: Rename) -> bytes:
    try:
        return rename(value.decode()).encode()
    except UnicodeDecodeError:
        return value
