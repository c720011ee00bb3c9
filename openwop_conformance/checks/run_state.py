"""What is known of a run while its events are folded: open sessions, open calls, and what was found so far."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from openwop_conformance.checks.run_events import RUN_STARTS, Event
from openwop_conformance.findings import Finding, Weight
from openwop_conformance.validation import EVENT_PAYLOADS, decider, violations
from openwop_conformance.wording import printable

_VALID = {kind: decider(name) for kind, name in EVENT_PAYLOADS.items()}


@dataclass(slots=True)
class Tally:
    """How much of what there was to look at, so that nothing passes by doing nothing."""

    events: int = 0
    runs: int = 0
    opened: int = 0
    closed: int = 0
    calls: int = 0
    interrupts: int = 0
    rejections: int = 0
    approvals_due: int = 0
    forgotten: int = 0

    def add(self, other: "Tally") -> None:
        """Take in what another fold has seen."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known besides the events: the tools by id with their `approval`, and secrets that must not appear."""

    approvals: Mapping[str, str | None] | None = None
    secrets: tuple[re.Pattern[str], ...] = ()


@dataclass(slots=True)
class Bracket:
    """A session from its opening on."""

    id: str
    tool: str | None
    opened: Event
    calls: int = 0
    pending: int = 0
    strays: int = 0
    approval: bool = False
    early: Event | None = None
    closed: Event | None = None
    unreturned: dict[str, int] = field(default_factory=dict)
    late: Event | None = None
    outcome: str = ""


@dataclass(slots=True)
class Doubt:
    """A rejection that can be about any of several calls: one of them at least must not return ok."""

    rejected: Event
    waiting: int
    kept: bool = False

    def settle(self, *, ok: bool) -> None:
        """One of the calls has returned."""
        self.waiting -= 1
        self.kept = self.kept or not ok

    @property
    def broken(self) -> bool:
        """Whether all of them returned ok."""
        return not self.waiting and not self.kept


@dataclass(slots=True)
class Call:
    """A call that has not returned."""

    name: str
    session: str | None
    event: Event
    bracket: Bracket | None
    rejected: Event | None = None
    doubts: list[Doubt] = field(default_factory=list)


class RunState:
    """The state of one run, and the ways to say something about it."""

    def __init__(self, run: str = "", surroundings: Surroundings | None = None, *, whole: bool = True) -> None:
        self.run = run
        self.findings: list[Finding] = []
        self.tally = Tally(runs=1)
        self.ended = False
        self._around = surroundings or Surroundings()
        self._whole = whole
        self._last = -1
        self._first: Event | None = None
        self._ids: set[str] = set()
        self._open: dict[str, Bracket] = {}
        self._closed: dict[str, Event] = {}
        self._unclosed: set[str] = set()
        self._orphans: list[tuple[str, str | None, Event]] = []
        self._ghosts: dict[str, Event] = {}
        self._empty: list[Bracket] = []
        self._held = 0
        self._late: set[str] = set()
        self._calls: dict[str, Call] = {}
        self._done: set[str] = set()
        self._loose: list[tuple[int, int]] = []
        self._first_loose: Event | None = None
        self._last_loose: Event | None = None
        self._asked: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._latest_kind = "approval"
        self._foretold: dict[str, Event] = {}
        self._told: set[str] = set()
        self._strange: list[tuple[str, str]] = []
        self._unreadable = False
        self._misnamed = False

    def _say(
        self,
        requirement: str,
        message: str,
        event: Event,
        expected: str = "",
        seen: str = "",
        *,
        weight: Weight = Weight.VIOLATION,
    ) -> None:
        self.findings.append(Finding(requirement, message, self._at(event.place), expected, seen, weight=weight))

    def _at(self, place: str) -> str:
        return f"run {printable(self.run, 80)}, {place}" if self.run else place

    def _valid(self, event: Event, requirement: str) -> None:
        if not _VALID[event.kind](event.payload):
            for one in violations(EVENT_PAYLOADS[event.kind], event.payload):
                if one.keyword != "not":
                    message = f"the payload of {event.kind} is not valid"
                    where = f"{event.place}, /payload{one.pointer}"
                    self.findings.append(Finding(requirement, message, self._at(where), one.expected, one.seen))

    @staticmethod
    def _key(name: str, session: str | None) -> str:
        """By what a call is known: hosts may count the calls of each session anew."""
        return name if session is None else f"{session}\0{name}"

    def _named_call(self, name: str, session: str | None) -> Call | None:
        """The open call of this name: of this session, of none, or the only one of any."""
        own = self._calls.get(self._key(name, session)) or self._calls.get(name)
        if own is not None or session is not None:
            return own
        others = [one for one in self._calls.values() if one.name == name]
        return others[0] if len(others) == 1 else None

    def _placed(self, finding: Finding) -> Finding:
        """A finding that names the run besides the place in it."""
        return replace(finding, where=self._at(finding.where))

    @property
    def _partial(self) -> bool:
        """Whether the log seems to begin in the middle of the run."""
        first = self._first
        return not self._whole and first is not None and first.sequence > 1 and first.kind not in RUN_STARTS

    def _inconclusive(self, requirement: str, event: Event, what: str) -> None:
        message = f"the log of the run begins in the middle, so {what} cannot be judged; give the whole log"
        self._say(requirement, message, event, weight=Weight.INCONCLUSIVE)
