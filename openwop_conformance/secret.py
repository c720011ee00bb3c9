"""A value that must not be shown: whoever wants it has to ask for it by name."""

import base64
import re
from dataclasses import dataclass

SHORT = 8


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
    encoded = [base64.b64encode(value.encode()), base64.urlsafe_b64encode(value.encode())]
    plain = "".join(map(_spelled, value))
    if len(value) < SHORT:
        plain = rf"(?<![0-9A-Za-z]){plain}(?![0-9A-Za-z])"
    return "|".join([plain, *(re.escape(one.decode().rstrip("=")) for one in encoded)])


def _spelled(char: str) -> str:
    code = f"{ord(char):x}"
    percent = "".join(f"%{byte:02x}" for byte in char.encode())
    return (
        rf"(?:{re.escape(char)}|\\?{re.escape(char)}|(?i:{percent}|\\u0*{code.zfill(4)}|&#x0*{code};|&#0*{ord(char)};))"
    )
