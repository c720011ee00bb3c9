"""Large event logs, made line by line: well-formed runs of eight events, and a few with a planted violation."""

from collections.abc import Callable, Iterator, Mapping

EVENTS = 8
_HEAD = b'{"eventId":"evt_%024x%08x","runId":"run_%032x","type":"%s","payload":%s,'
_TAIL = b'"timestamp":"2026-05-30T10:00:00.123Z","sequence":%d}\n'
_SESSION = b'"sessionId":"ses_%032x","toolId":"openwop:text.slugify"'
_CALL = (
    b'"agentId":"agent-reference","toolName":"local::text.slugify","callId":"call_%024x%08x","sessionId":"ses_%032x"'
)
_INPUTS = b'"inputs":{"heading":"Hello World %d","n":%d},"argsHash":"%064x","principal":"alice","transport":"native"'
_OUTCOME = b'"status":"ok","durationMs":3,"outcome":{"slug":"hello-world-%d"}'
Plant = Callable[[list[bytes]], list[bytes]]


def run(number: int) -> list[bytes]:
    """One run: a session with two calls."""
    session = _SESSION % number
    parts = [(b"run.started", b"{}"), (b"tool.session.opened", b"{%s}" % session)]
    for call in range(2):
        named = _CALL % (number, call, number)
        parts.append((b"agent.toolCalled", b"{%s,%s}" % (named, _INPUTS % (call, call, number))))
        parts.append((b"agent.toolReturned", b"{%s,%s}" % (named, _OUTCOME % call)))
    parts += [(b"tool.session.closed", b'{%s,"outcome":"completed"}' % session), (b"run.completed", b"{}")]
    return [
        _HEAD % (number, sequence, number, kind, payload) + _TAIL % sequence
        for sequence, (kind, payload) in enumerate(parts)
    ]


def log(events: int, planted: Mapping[int, Plant] | None = None) -> Iterator[list[bytes]]:
    """The lines of so many events, run by run; some runs have something planted in them."""
    plants = planted or {}
    for number in range(events // EVENTS):
        lines = run(number)
        yield plants[number](lines) if number in plants else lines


def _swapped(place: int, old: bytes, new: bytes) -> Plant:
    def plant(lines: list[bytes]) -> list[bytes]:
        lines[place] = lines[place].replace(old, new)
        return lines

    return plant


def _without(place: int) -> Plant:
    return lambda lines: lines[:place] + lines[place + 1 :]


PLANTS: tuple[tuple[str, int, Plant], ...] = (
    ("session-ids-constant", 6, _swapped(6, b'"toolId":"openwop:text', b'"toolId":"openwop:other')),
    ("session-calls-returned", 6, _without(5)),
    ("session-closed-before-run-ends", 7, _without(6)),
    ("session-payloads-valid", 6, _swapped(6, b"completed", b"finished")),
    ("session-content-free", 1, _swapped(1, b'"payload":{', b'"payload":{"input":7,')),
    ("event-sequences-increase", 7, _swapped(7, b'"sequence":7', b'"sequence":6')),
    ("session-calls-paired", 5, _swapped(5, b'"callId":"call_', b'"callId":"other_')),
)
