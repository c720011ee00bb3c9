"""What a parser or a projection has to say about a document."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How much it matters."""

    ERROR = "error"
    ADVISORY = "advisory"


@dataclass(frozen=True, slots=True)
class Notice:
    """One remark, and the JSON Pointer of what it is about."""

    kind: Kind
    pointer: str
    message: str

    def below(self, prefix: str) -> "Notice":
        """The same remark about a part of a larger document."""
        return Notice(self.kind, prefix + self.pointer, self.message)


def error(pointer: str, message: str) -> Notice:
    """A remark that a document cannot be used with."""
    return Notice(Kind.ERROR, pointer, message)


def advisory(pointer: str, message: str) -> Notice:
    """A remark on something odd."""
    return Notice(Kind.ADVISORY, pointer, message)


def has_errors(notices: Iterable[Notice]) -> bool:
    """Whether any of them is an error."""
    return any(one.kind is Kind.ERROR for one in notices)
