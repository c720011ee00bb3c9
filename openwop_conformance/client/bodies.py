"""Bodies from a host: JSON read with bounds, text cut for the record."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

MAX_JSON_DEPTH = 200
MAX_RECORDED_CHARS = 4000


class _NotJson(Exception):
    """A word that Python takes for a number and JSON does not."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A JSON value, or why there is none; with members that another one of the same name hides from most readers."""

    value: Any = None
    error: str | None = None
    too_deep: bool = False
    shadowed: tuple[tuple[str, Any], ...] = ()


def read_json(body: bytes) -> Reading:
    """The JSON value of a body; nesting beyond our limit is told apart from a body that is not JSON."""
    if not body.strip():
        return Reading(error="the body is empty")
    shadowed: list[tuple[str, Any]] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            shadowed.extend((name, value) for name, value in pairs if value is not found[name])
        return found

    try:
        value = json.loads(body.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=members)
    except UnicodeDecodeError as error:
        return Reading(error=f"the body is not UTF-8 at byte {error.start}")
    except json.JSONDecodeError as error:
        return Reading(error=f"the body is not JSON: {error.msg} at line {error.lineno} column {error.colno}")
    except RecursionError:
        return Reading(error=_DEEP, too_deep=True)
    except _NotJson as error:
        return Reading(error=f"the body is not JSON: {error}")
    except ValueError:
        return Reading(error="the body holds a number with more digits than the suite reads", too_deep=True)
    if body.count(b"[") + body.count(b"{") > MAX_JSON_DEPTH and _depth_exceeds(value, MAX_JSON_DEPTH):
        return Reading(error=_DEEP, too_deep=True)
    return Reading(value, shadowed=tuple(shadowed))


_DEEP = f"the body is nested deeper than {MAX_JSON_DEPTH} levels, which the suite does not read"


def _refuse(constant: str) -> Any:
    raise _NotJson(f"{constant} is not a JSON value")


def _depth_exceeds(value: Any, limit: int) -> bool:
    """Whether containers stand within containers more than `limit` deep; level by level, without recursion."""
    level = _containers([value])
    for _ in range(limit):
        level = [child for node in level for child in _containers(node.values() if isinstance(node, dict) else node)]
        if not level:
            return False
    return True


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list)]
