"""Every text of an answer, with the place where it stands."""

from collections.abc import Iterable, Iterator
from typing import Any

from openwop_conformance.exchanges import Answer
from openwop_conformance.validation import escape_pointer
from openwop_conformance.wording import printable


def texts(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Every key and every string of a JSON value by JSON Pointer; its depth was bounded when it was read."""
    if isinstance(value, str):
        yield pointer, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            place = f"{pointer}/{escape_pointer(printable(str(key), 80))}"
            yield place, str(key)
            yield from texts(inner, place)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from texts(inner, f"{pointer}/{number}")


def distinct_texts(answers: Iterable[Answer]) -> Iterator[tuple[Answer, str, str]]:
    """Every text of several answers with its place; bodies and headers that come again are passed over."""
    bodies: set[bytes] = set()
    headers: set[tuple[str, str]] = set()
    for answer in answers:
        if answer.body not in bodies:
            bodies.add(answer.body)
            yield from ((answer, where, text) for where, text in body_texts(answer))
        for pair in answer.headers:
            if pair not in headers:
                headers.add(pair)
                yield answer, "the name of a header", pair[0]
                yield answer, f"header {printable(pair[0], 80)}", pair[1]


def body_texts(answer: Answer) -> Iterator[tuple[str, str]]:
    """The texts of a body: of its JSON, members that others of the same name hide included, or else all of it."""
    if answer.json is not None:
        yield from texts(answer.json)
        for name, value in answer.shadowed:
            yield from texts(value, f"a member {printable(name, 80)} that stands twice")
    else:
        yield "body", answer.body.decode("utf-8", "replace")


def header_texts(answer: Answer) -> Iterator[tuple[str, str]]:
    """The names and the values of the headers."""
    for name, value in answer.headers:
        yield "the name of a header", name
        yield f"header {printable(name, 80)}", value
