"""A value that must not be shown: whoever wants it has to ask for it by name."""

import base64
import re
from dataclasses import dataclass

SHORT = 8
LONG = 16


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A token or planted secret. It prints as stars, in tracebacks and local variables too."""

    _value: str

    def reveal(self) -> str:
        """The value itself, for the wire and for nothing else."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self._value)


def spelling_pattern(value: str) -> str:
    """A pattern for a secret in whatever spelling a host hands it back, or in base64."""
    plain = "".join(map(_spelled, value))
    if len(value) < SHORT:
        plain = rf"(?<![0-9A-Za-z]){plain}(?![0-9A-Za-z])"
    elif len(value) >= LONG:
        plain = f"(?i:{plain}|{value.encode().hex()})"
    return "|".join([plain, *map(re.escape, _in_base64(value.encode()))])


def _in_base64(value: bytes) -> list[str]:
    """The value in base64; long ones also as a part of something longer, such as a name and a colon before it."""
    found = {encode(value).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    for before in range(3) if len(value) >= LONG else ():
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            whole = encode(bytes(before) + value).decode().rstrip("=")
            found.add(whole[before + bool(before) : len(whole) - bool((before + len(value)) % 3)])
    return sorted(found, key=len, reverse=True)


def _spelled(char: str) -> str:
    code = f"{ord(char):x}"
    percent = "".join(f"%{byte:02x}" for byte in char.encode())
    return (
        rf"(?:{re.escape(char)}|\\?{re.escape(char)}|(?i:{percent}|\\u0*{code.zfill(4)}|&#x0*{code};|&#0*{ord(char)};))"
    )
