"""Host text made safe to print: bounded in length, control characters and escapes spelled out."""

import json
import unicodedata
from collections.abc import Iterable

ELLIPSIS = "…"
_ONE_UNIT = 2
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def printable(text: str, limit: int = 400, *, keep: str = "") -> str:
    """Spell out what a terminal or an editor would act upon, except `keep`, and cut at `limit` characters."""
    cut = text[:limit]
    visible = cut if cut.isascii() and cut.isprintable() else "".join(_visible(char, keep) for char in cut)
    return visible + ELLIPSIS if len(text) > limit else visible


def _visible(char: str, keep: str) -> str:
    if char in keep or unicodedata.category(char) not in _INVISIBLE:
        return char
    return (
        f"\\u{ord(char):04x}" if len(char.encode("utf-16-le", "surrogatepass")) == _ONE_UNIT else f"\\U{ord(char):08x}"
    )


def shown(value: object, limit: int = 120) -> str:
    """A JSON value as a person would quote it in a sentence."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return printable(text, limit)


def listed(items: Iterable[object], limit: int = 6) -> str:
    """A few values joined for a sentence, the rest counted."""
    values = [printable(str(item), 80) for item in items]
    if len(values) <= limit + 1:
        return ", ".join(values)
    return f"{', '.join(values[:limit])} and {len(values) - limit} more"
