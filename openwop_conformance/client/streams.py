"""Server-sent events, taken apart."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of a stream: its id, and the JSON of its data; None where that is no JSON."""

    id: str
    event: Any


def complete_frames(body: bytes) -> list[Frame]:
    """The frames that a blank line ends."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    *blocks, _ = text.split("\n\n")
    return [frame for block in blocks if (frame := _frame(block)) is not None]


def frames(body: bytes) -> list[Frame]:
    """All frames of a body, the last one even if the blank line behind it is missing."""
    return complete_frames(body.rstrip(b"\r\n") + b"\n\n")


def _frame(block: str) -> Frame | None:
    """A block of lines; one without data is a comment or a sign of life."""
    name, data = "", []
    for line in block.split("\n"):
        field, _, value = line.partition(":")
        if field == "id":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))
    if not data:
        return None
    try:
        return Frame(name, json.loads("\n".join(data)))
    except (ValueError, RecursionError):
        return Frame(name, None)
