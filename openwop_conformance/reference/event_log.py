"""The durable event log: SQLite in WAL mode, sequence numbers given within the transaction."""

import json
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ENDED = ("run.completed", "run.failed", "run.cancelled")
_SCHEMA = """
create table if not exists runs (run_id text primary key, tenant text not null, principal text not null);
create table if not exists events (
  run_id text not null references runs, sequence integer not null, event_id text not null unique,
  type text not null, payload text not null, timestamp text not null, primary key (run_id, sequence)
) without rowid;
"""


class EventLog:
    """Appends and reads events; safe for threads, and whole again after a kill."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Condition()
        self._released = False
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=10)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        self._db.executescript(_SCHEMA)
        self._guard = sqlite3.connect(f"{path}.lock", check_same_thread=False, isolation_level=None, timeout=0)
        try:
            self._guard.execute("begin exclusive")
        except sqlite3.OperationalError:
            self._db.close()
            self._guard.close()
            raise sqlite3.DatabaseError("another host is using this event log") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
            self._guard.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("begin immediate")
            try:
                yield self._db
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")
            self._lock.notify_all()

    def start_run(self, tenant: str, principal: str) -> str:
        """A new run, with its first event."""
        run_id = f"run_{uuid.uuid4().hex}"
        with self._transaction() as db:
            db.execute("insert into runs values (?, ?, ?)", (run_id, tenant, principal))
            self._insert(db, run_id, "run.started", {})
        return run_id

    def append(self, run_id: str, kind: str, payload: dict[str, Any]) -> None:
        """Add one event; when this returns, it survives the end of this process."""
        with self._transaction() as db:
            self._insert(db, run_id, kind, payload)

    def append_all(self, run_id: str, events: list[tuple[str, dict[str, Any]]]) -> None:
        """Add several events, all or none."""
        with self._transaction() as db:
            for kind, payload in events:
                self._insert(db, run_id, kind, payload)

    @staticmethod
    def _insert(db: sqlite3.Connection, run_id: str, kind: str, payload: dict[str, Any]) -> None:
        [(sequence,)] = db.execute("select coalesce(max(sequence), -1) + 1 from events where run_id = ?", (run_id,))
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        row = (run_id, sequence, f"evt_{uuid.uuid4().hex}", kind, json.dumps(payload, ensure_ascii=False), now)
        db.execute("insert into events values (?, ?, ?, ?, ?, ?)", row)

    def owner_of(self, run_id: str) -> tuple[str, str] | None:
        """The tenant and the principal that a run belongs to; None for a run that is not there."""
        with self._lock:
            row = self._db.execute("select tenant, principal from runs where run_id = ?", (run_id,)).fetchone()
        return (str(row[0]), str(row[1])) if row else None

    def read(self, run_id: str, after: int = -1) -> list[dict[str, Any]]:
        """The events of a run with a sequence above `after`, in order."""
        with self._lock:
            rows = self._db.execute(
                "select run_id, sequence, event_id, type, payload, timestamp from events"
                " where run_id = ? and sequence > ? order by sequence",
                (run_id, after),
            ).fetchall()
        return [
            {
                "eventId": row[2],
                "runId": row[0],
                "type": row[3],
                "payload": json.loads(row[4]),
                "timestamp": row[5],
                "sequence": row[1],
            }
            for row in rows
        ]

    def is_complete(self, run_id: str) -> bool:
        """Whether a run has ended."""
        with self._lock:
            marks = ", ".join("?" * len(ENDED))
            query = f"select 1 from events where run_id = ? and type in ({marks})"  # noqa: S608 - only question marks
            return self._db.execute(query, (run_id, *ENDED)).fetchone() is not None

    def wait(self, run_id: str, after: int, seconds: float) -> list[dict[str, Any]]:
        """Events above `after`, waiting for some while the run goes on."""
        with self._lock:
            self._lock.wait_for(
                lambda: self._released or bool(self.read(run_id, after)) or self.is_complete(run_id), seconds
            )
        return self.read(run_id, after)

    def unfinished(self) -> list[str]:
        """Runs without an end."""
        with self._lock:
            runs = [str(row[0]) for row in self._db.execute("select run_id from runs")]
        return [run_id for run_id in runs if not self.is_complete(run_id)]

    def release(self) -> None:
        """Let everybody go who waits for events, because the host is about to stop."""
        with self._lock:
            self._released = True
            self._lock.notify_all()

    def is_over(self, run_id: str) -> bool:
        """Whether nothing more is to be expected of a run: it has ended, it is gone, or the host stops."""
        return self._released or self.owner_of(run_id) is None or self.is_complete(run_id)

    def clear(self, tenant: str) -> None:
        """Forget the finished runs of a tenant."""
        with self._transaction() as db:
            rows = db.execute("select run_id from runs where tenant = ?", (tenant,)).fetchall()
            for (run_id,) in rows:
                if self.is_complete(run_id):
                    db.execute("delete from events where run_id = ?", (run_id,))
                    db.execute("delete from runs where run_id = ?", (run_id,))


def recover(log: EventLog) -> int:
    """Bring cut-off runs to an end: open calls return an error, sessions close as cancelled. Tells how many."""
    cut = log.unfinished()
    for run_id in cut:
        log.append_all(run_id, list(_closing(log.read(run_id))))
    return len(cut)


_PAIRS = {
    "tool.session.opened": ("tool.session.closed", "sessionId"),
    "agent.toolCalled": ("agent.toolReturned", "callId"),
    "interrupt.requested": ("interrupt.resolved", "interruptId"),
}


def _closing(events: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    for payload in _open(events, "interrupt.requested"):
        yield "interrupt.resolved", {**payload, "resolution": "cancelled"}
    for payload in _open(events, "agent.toolCalled"):
        kept: dict[str, Any] = {
            key: payload[key] for key in ("agentId", "toolName", "callId", "sessionId") if key in payload
        }
        failure = {"code": "interrupted", "message": "The host stopped before the call returned."}
        yield "agent.toolReturned", {**kept, "status": "error", "error": failure}
    for payload in _open(events, "tool.session.opened"):
        named = {"sessionId": payload["sessionId"], "toolId": payload["toolId"]}
        yield "tool.session.closed", {**named, "outcome": "cancelled"}
    yield "run.cancelled", {}


def _open(events: list[dict[str, Any]], opening: str) -> list[dict[str, Any]]:
    """The payloads of openings that nothing has closed."""
    closing, key = _PAIRS[opening]
    closed = {event["payload"][key] for event in events if event["type"] == closing}
    return [one["payload"] for one in events if one["type"] == opening and one["payload"][key] not in closed]
