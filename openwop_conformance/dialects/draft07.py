"""JSON Schema of draft-07 turned into 2020-12 with the same meaning."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urljoin

from openwop_conformance.dialects.shapes import DIALECT_2020_12, escaped

_ONE = frozenset({"additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"})
_MANY = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED = frozenset({"properties", "patternProperties"})
_STRANGE = frozenset(
    {
        *("minContains", "maxContains", "unevaluatedItems", "unevaluatedProperties", "dependentRequired"),
        *("dependentSchemas", "prefixItems", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"),
        *("$recursiveAnchor", "$vocabulary"),
    }
)
_SCHEMAS = _ONE | _MANY | _NAMED | {"definitions", "$defs", "items", "additionalItems", "dependencies"}
_HARMLESS = frozenset({"$comment", "title", "description", "default", "examples", "readOnly", "writeOnly"})
_REPLACED = frozenset({"$schema", "$id", "$ref", "definitions", "$defs", "items", "additionalItems", "dependencies"})


@dataclass(slots=True)
class Converted:
    """A schema of 2020-12 and what had to be left behind."""

    schema: Any
    losses: list[str] = field(default_factory=list)
    dangling: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Base:
    """The document that a reference starts from: its root and its address."""

    root: Any
    uri: str


def to_2020_12(schema: Any) -> Converted:
    """Convert a whole schema document."""
    converter = _Converter(schema)
    converted = converter.schema(schema, _Base(schema, ""), "")
    if isinstance(converted, dict) and isinstance(schema, dict) and "$schema" in schema:
        converted = {"$schema": DIALECT_2020_12, **converted}
    return Converted(converted, converter.losses, sorted(set(_dangling(converted, converted))))


class _Converter:
    def __init__(self, root: Any) -> None:
        self.losses: list[str] = []
        self._resources = {"": root}
        self._collect(root, "")

    def _collect(self, node: Any, uri: str) -> None:
        """Note every embedded document, by its resolved address."""
        if isinstance(node, dict):
            own = _document_id(node)
            if own is not None:
                uri = urljoin(uri, own)
                self._resources.setdefault(uri, node)
            for child in node.values():
                self._collect(child, uri)
        elif isinstance(node, list):
            for child in node:
                self._collect(child, uri)

    def schema(self, node: Any, base: _Base, at: str) -> Any:
        if not isinstance(node, dict):
            return node
        own = _document_id(node)
        if own is not None:
            base = _Base(node, urljoin(base.uri, own))
        if isinstance(node.get("$ref"), str):
            return self._reference(node, base, at)
        result: dict[str, Any] = {}
        self._identify(node, result)
        for keyword, value in node.items():
            if keyword in _STRANGE:
                self.losses.append(f"{at}/{escaped(keyword)}: draft-07 does not know it, 2020-12 would act on it")
            elif keyword not in _REPLACED:
                result[keyword] = self._keyword(keyword, value, base, f"{at}/{escaped(keyword)}")
        self._definitions(node, result, base, at)
        self._items(node, result, base, at)
        self._dependencies(node, result, base, at)
        return result

    def _reference(self, node: dict[str, Any], base: _Base, at: str) -> dict[str, Any]:
        """Beside `$ref`, draft-07 ignores everything; 2020-12 would not."""
        result = {keyword: value for keyword, value in node.items() if keyword in _HARMLESS}
        result["$ref"] = self._target(node["$ref"], base)
        self._definitions(node, result, base, at)
        kept = result.keys() | {"definitions"}
        ignored = [one for one in node if one not in kept and not (one == "$schema" and not at)]
        self.losses += [f"{at}/{escaped(one)}: ignored beside $ref in draft-07" for one in ignored]
        return result

    def _identify(self, node: dict[str, Any], result: dict[str, Any]) -> None:
        value = node.get("$id")
        if not isinstance(value, str):
            return
        document, _, anchor = value.partition("#")
        if document:
            result["$id"] = document
        if anchor:
            result["$anchor"] = anchor_name(anchor)

    def _keyword(self, keyword: str, value: Any, base: _Base, at: str) -> Any:
        if keyword in _ONE:
            return self.schema(value, base, at)
        if keyword in _MANY and isinstance(value, list):
            return [self.schema(one, base, f"{at}/{place}") for place, one in enumerate(value)]
        if keyword in _NAMED and isinstance(value, dict):
            return {name: self.schema(one, base, f"{at}/{escaped(name)}") for name, one in value.items()}
        return value

    def _definitions(self, node: dict[str, Any], result: dict[str, Any], base: _Base, at: str) -> None:
        merged: dict[str, Any] = {}
        for keyword in ("definitions", "$defs"):
            parts = node.get(keyword)
            if isinstance(parts, dict):
                for name, part in parts.items():
                    merged[definition_name(node, keyword, name)] = self.schema(
                        part, base, f"{at}/{keyword}/{escaped(name)}"
                    )
        if merged:
            result["$defs"] = merged

    def _items(self, node: dict[str, Any], result: dict[str, Any], base: _Base, at: str) -> None:
        items, rest = node.get("items"), node.get("additionalItems")
        if isinstance(items, list):
            if items:
                result["prefixItems"] = [
                    self.schema(one, base, f"{at}/items/{place}") for place, one in enumerate(items)
                ]
            if "additionalItems" in node:
                result["items"] = self.schema(rest, base, f"{at}/additionalItems")
        else:
            if "items" in node:
                result["items"] = self.schema(items, base, f"{at}/items")
            if "additionalItems" in node:
                self.losses.append(f"{at}/additionalItems: without a list of items it means nothing")

    def _dependencies(self, node: dict[str, Any], result: dict[str, Any], base: _Base, at: str) -> None:
        entries = node.get("dependencies")
        if not isinstance(entries, dict):
            return
        required = {name: one for name, one in entries.items() if isinstance(one, list)}
        schemas = {
            name: self.schema(one, base, f"{at}/dependencies/{escaped(name)}")
            for name, one in entries.items()
            if not isinstance(one, list)
        }
        result |= {"dependentRequired": required} if required else {}
        result |= {"dependentSchemas": schemas} if schemas else {}

    def _target(self, reference: str, base: _Base) -> str:
        """A reference whose pointer or anchor follows what has moved."""
        document, mark, fragment = reference.partition("#")
        if not mark or not fragment:
            return document or "#"
        root = base.root if not document else self._resources.get(urljoin(base.uri, document))
        plain = unquote(fragment)
        if not plain.startswith("/"):
            return f"{document}#{anchor_name(plain)}"
        return f"{document}#{quote(_moved(root, plain), safe=_POINTER)}" if root is not None else reference


_POINTER = "/~!$&'()*+,;=:@-._?"


def _document_id(node: dict[str, Any]) -> str | None:
    """The address that a node gives itself; beside `$ref` it gives none."""
    value = node.get("$id")
    if not isinstance(value, str) or "$ref" in node:
        return None
    return value.partition("#")[0] or None


def definition_name(node: dict[str, Any], keyword: str, name: str) -> str:
    """The name of a definition in `$defs`; where both places use it, the one from `definitions` is renamed."""
    other, own = node.get("$defs"), node.get("definitions")
    if keyword != "definitions" or not isinstance(other, dict) or name not in other:
        return name
    fresh = f"{name}_"
    while fresh in other or (isinstance(own, dict) and fresh in own):
        fresh += "_"
    return fresh


def anchor_name(name: str) -> str:
    """An anchor that 2020-12 accepts; most are fine as they are."""
    plain = "".join(
        char if char.isascii() and (char.isalnum() or char in "-._") else f"_{ord(char):x}_" for char in name
    )
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"


def _moved(node: Any, pointer: str) -> str:
    """Where a JSON Pointer of the draft-07 document leads in the converted one."""
    steps = pointer[1:].split("/")
    moved: list[str] = []
    place = 0
    while place < len(steps):
        step = steps[place].replace("~1", "/").replace("~0", "~")
        follower = steps[place + 1].replace("~1", "/").replace("~0", "~") if place + 1 < len(steps) else None
        if isinstance(node, dict) and step not in _SCHEMAS:
            moved += [one.replace("~1", "/").replace("~0", "~") for one in steps[place:]]
            break
        keys, used = _renamed(node, step, follower)
        moved += keys
        for key in [step, follower][:used]:
            node = _child(node, str(key))
        place += used
    return "".join(f"/{escaped(key)}" for key in moved)


def _renamed(node: Any, step: str, follower: str | None) -> tuple[list[str], int]:
    """The steps that take the place of one or two steps of the old pointer, and how many they replace."""
    if not isinstance(node, dict):
        return [step], 1
    if step == "definitions" and follower is not None:
        return ["$defs", definition_name(node, step, follower)], 2
    if step == "items" and isinstance(node.get("items"), list):
        return ["prefixItems"], 1
    if step == "additionalItems" and isinstance(node.get("items"), list):
        return ["items"], 1
    if step == "dependencies" and follower is not None:
        return ["dependentSchemas", follower], 2
    if (step in _NAMED or step == "$defs") and follower is not None:
        return [step, follower], 2
    return [step], 1


def _dangling(node: Any, root: Any) -> Iterator[str]:
    """References by pointer, within the same document, that lead nowhere."""
    if isinstance(node, list):
        for child in node:
            yield from _dangling(child, root)
    elif isinstance(node, dict):
        root = node if "$id" in node else root
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            target = root
            for step in unquote(reference[2:]).split("/"):
                target = _child(target, step.replace("~1", "/").replace("~0", "~"))
            if target is None:
                yield reference
        for key, child in node.items():
            if key not in {"const", "enum", "default", "examples"}:
                yield from _dangling(child, root)


def _child(node: Any, key: str) -> Any:
    if isinstance(node, dict):
        return node.get(key)
    if isinstance(node, list) and key.isdecimal() and int(key) < len(node):
        return node[int(key)]
    return None
