"""A value that must not be shown: whoever wants it has to ask for it by name."""

from dataclasses import dataclass


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
