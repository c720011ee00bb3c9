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
    """A block of lines; one without data is a comment, and one without an id whose data is no event a sign of life."""
    name = ""
    data: list[str] = []
    for line in block.split("\n"):
        field, _, value = line.partition(":")
        if field == "id":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))
    event = _json("\n".join(data)) if data else None
    is_event = isinstance(event, dict) and bool({"type", "sequence", "eventId"} & event.keys())
    return Frame(name, event) if data and (name or is_event) else None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
