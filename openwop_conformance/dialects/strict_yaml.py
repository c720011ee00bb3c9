"""YAML as a careful stranger would read it: JSON's types only, no aliases, no doubled keys, bounded size and depth."""

from pathlib import Path
from typing import Any

import yaml

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 100
_PLAIN = frozenset(f"tag:yaml.org,2002:{name}" for name in ("map", "seq", "str", "int", "float", "bool", "null"))
_TEXT = "tag:yaml.org,2002:str"


class DocumentError(ValueError):
    """A file that cannot be used; the message is one line that names the file."""


class _StrictLoader(yaml.SafeLoader):
    """The safe loader without aliases, doubled keys, keys that are no text, and types that JSON does not have."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose one node, refusing what cannot stand in a document."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not accepted here", problem_mark=self.get_mark())
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=self.get_mark())
        node = super().compose_node(parent, index)
        self.depth -= 1
        if node is not None and node.tag not in _PLAIN:
            raise yaml.MarkedYAMLError(
                problem=f"could not determine a constructor for {node.tag}", problem_mark=node.start_mark
            )
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - the signature is PyYAML's
        """Build a mapping, refusing a key that stands twice or is no text."""
        seen: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag != _TEXT:
                raise yaml.MarkedYAMLError(problem="a key is not text; quote it", problem_mark=key_node.start_mark)
            if key_node.value in seen:
                raise yaml.MarkedYAMLError(
                    problem=f"key {key_node.value!r} stands twice", problem_mark=key_node.start_mark
                )
            seen.add(key_node.value)
        return super().construct_mapping(node, deep)


_StrictLoader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag in _PLAIN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parse_yaml(text: str, name: str) -> Any:
    """The value of a YAML (or JSON) text; `name` stands in the error line."""
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506 - a subclass of the safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f" line {mark.line + 1} column {mark.column + 1}" if mark else ""
        raise DocumentError(f"{name}:{place} {error.problem}") from None
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise DocumentError(f"{name}: not readable as YAML: {first}") from None
    except RecursionError:
        raise DocumentError(f"{name}: nested too deeply") from None


def read_text(path: Path, limit: int = MAX_BYTES) -> str:
    """The text of a file of at most `limit` bytes of UTF-8."""
    shown = str(path) if str(path).isprintable() else repr(str(path))
    try:
        with path.open("rb") as stream:
            raw = stream.read(limit + 1)
    except OSError as error:
        raise DocumentError(f"{shown}: {error.strerror or error}") from None
    except ValueError:
        raise DocumentError(f"{shown}: no file can have that name") from None
    if len(raw) > limit:
        raise DocumentError(f"{shown}: larger than {limit} bytes")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError(f"{shown}: not UTF-8 at byte {error.start}") from None


def read_yaml(path: Path, limit: int = MAX_BYTES) -> Any:
    """The value of a YAML or JSON file."""
    return parse_yaml(read_text(path, limit), str(path))
