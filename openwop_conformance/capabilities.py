"""What a discovery document advertises, wherever in it the families stand."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

WRAPPER = "capabilities"


class Advertised(StrEnum):
    """What a host says of one capability."""

    YES = "yes"
    NO = "no"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Family:
    """One capability family and the JSON Pointer at which it stands."""

    pointer: str
    value: Any


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The families of one discovery document; `document` is None where none could be read."""

    document: dict[str, Any] | None

    def places(self, name: str) -> list[Family]:
        """Everywhere that the family stands: the root first, then the deprecated wrapper."""
        document = self.document or {}
        wrapper = document.get(WRAPPER)
        found = [Family(f"/{name}", document[name])] if name in document else []
        if isinstance(wrapper, dict) and name in wrapper:
            found.append(Family(f"/{WRAPPER}/{name}", wrapper[name]))
        return found

    def family(self, name: str) -> Family | None:
        """The family at the root or, failing that, in the deprecated wrapper."""
        return next(iter(self.places(name)), None)

    def advertised(self, path: str) -> Advertised:
        """Whether `family.member…` is true, or `family` alone is there at all.

        A family that does not support itself supports none of its members.
        """
        if self.document is None:
            return Advertised.UNCLEAR
        name, *steps = path.split(".")
        family = self.family(name)
        if family is None:
            return Advertised.NO
        if not steps:
            return Advertised.YES
        if not isinstance(family.value, dict):
            return Advertised.UNCLEAR
        own = _flag(family.value, ["supported"])
        if "supported" in family.value and own is not Advertised.YES:
            return own
        return _flag(family.value, steps)

    def sources(self) -> frozenset[str] | None:
        """The tool sources that the catalog is said to cover; None where the host does not say."""
        family = self.family("toolCatalog")
        listed = family.value.get("sources") if family and isinstance(family.value, dict) else None
        if not isinstance(listed, list):
            return None
        return frozenset(one for one in listed if isinstance(one, str))


def _flag(value: Any, steps: list[str]) -> Advertised:
    for step in steps:
        if not isinstance(value, dict):
            return Advertised.UNCLEAR
        if step not in value:
            return Advertised.NO
        value = value[step]
    if isinstance(value, bool):
        return Advertised.YES if value else Advertised.NO
    return Advertised.UNCLEAR
