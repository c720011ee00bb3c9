"""Event logs from files: lines of JSON or one JSON document, plain or compressed, read piece by piece."""

import codecs
import gzip
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import zstandard

MAX_LINE = 16 * 1024 * 1024
CHUNK = 1 << 20
CHUNK_IN = 1 << 16
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that is no JSON value that the suite reads, and why."""

    reason: str


class Unreadable(Exception):
    """A file that cannot be read at all, or not to its end; the message is one line."""


class EventFile:
    """One log; `name` is how it is called, `-` being standard input."""

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            self._raw: BinaryIO = sys.stdin.buffer if self.name == "-" else path.open("rb")
        except OSError as error:
            raise Unreadable(f"{path}: {error.strerror or error}") from None
        self.size = path.stat().st_size if self.name != "-" and path.is_file() else 0

    def position(self) -> int:
        """How much of the file was read, in its own bytes."""
        return self._raw.tell() if self.size else 0

    def close(self) -> None:
        """Close it, unless it is standard input."""
        if self.name != "-":
            self._raw.close()

    def values(self) -> Iterator[tuple[int, Any]]:
        """Every value with its line; what is broken comes as `Broken`, and reading goes on behind it."""
        try:
            stream = _decompressed(io.BufferedReader(_Plain(self._raw), CHUNK))
            start = _first_byte(stream)
            yield from _Array(stream).values() if start == b"[" else _lines(stream)
        except (OSError, EOFError, zstandard.ZstdError) as error:
            raise Unreadable(f"{self.name}: the file cannot be read to its end: {error}") from None


class _Plain(io.RawIOBase):
    """Whatever can be read, with the one method that a buffer needs."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        data = self._source.read(len(into))
        into[: len(data)] = data
        return len(data)


class _Zstandard(io.RawIOBase):
    """Frame after frame; the library's own reader takes a frame that is cut off for one that ends."""

    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._told = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        while not self._told:
            data = self._source.read(CHUNK_IN)
            if not data:
                if self._frame is not None:
                    raise EOFError("its last zstandard frame is cut off")
                return 0
            self._take(data)
        part, self._told = self._told[: len(into)], self._told[len(into) :]
        into[: len(part)] = part
        return len(part)

    def _take(self, data: bytes) -> None:
        while data:
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            self._told += self._frame.decompress(data)
            data = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None


def _decompressed(stream: io.BufferedReader) -> io.BufferedReader:
    magic = stream.peek(4)[:4]
    if magic.startswith(_GZIP):
        return io.BufferedReader(gzip.GzipFile(fileobj=stream), CHUNK)
    if magic == _ZSTD:
        return io.BufferedReader(_Zstandard(stream), CHUNK)
    return stream


def _first_byte(stream: io.BufferedReader) -> bytes:
    head = stream.peek(64)
    return head.removeprefix(codecs.BOM_UTF8).lstrip()[:1]


def _lines(stream: io.BufferedReader) -> Iterator[tuple[int, Any]]:
    """One value a line; a document that spreads over lines is taken whole where its first line is no value."""
    decode = msgspec.json.Decoder().decode
    number, begun = 0, False
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            yield number, Broken(f"the line is longer than {MAX_LINE} bytes")
            continue
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            value = decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            if line.strip() and not begun:
                yield from _document(line, number, stream, _why(error))
            elif line.strip():
                yield number, Broken(_why(error))
            begun = begun or bool(line.strip())
            continue
        begun = True
        if type(value) is dict and "events" in value and "type" not in value:
            yield from ((number, one) for one in _events(value))
        else:
            yield number, value


def _document(line: bytes, number: int, stream: io.BufferedReader, why: str) -> Iterator[tuple[int, Any]]:
    """A first line that is no value: the beginning of a document over several lines, or broken."""
    head = stream.peek(1)[:1]
    if line.lstrip()[:1] != b"{" or not head:
        yield number, Broken(why)
        return
    text = line + stream.read(MAX_LINE)
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        yield number, Broken(why)
        rest: io.BufferedReader = io.BufferedReader(io.BytesIO(text[len(line) :]))
        yield from ((number + inner, one) for inner, one in _lines(rest))
        return
    yield from ((number, one) for one in _events(value))


def _events(value: Any) -> list[Any]:
    events = value.get("events") if isinstance(value, dict) else None
    return events if isinstance(events, list) else [value]


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON value")


def _why(error: Exception) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else f"not JSON: {error}"


def _unless_broken(value: Any, text: str) -> Any:
    """A value of an array, unless it holds what UTF-8 cannot carry, raw or escaped."""
    try:
        text.encode()
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return Broken("not JSON: halves of surrogate pairs, or bytes that are not UTF-8")
    return value


class _Array:
    """The elements of one array, without holding more of it than an element needs."""

    def __init__(self, stream: io.BufferedReader) -> None:
        self._stream = stream
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._decode = json.JSONDecoder(parse_constant=_refuse).raw_decode
        self._text = ""
        self._place = 0
        self._line = 1
        self._ended = False

    def _more(self) -> bool:
        """Read on; what was used is let go."""
        data = self._stream.read(CHUNK)
        self._ended = not data
        self._text = self._text[self._place :] + self._utf8.decode(data, final=self._ended)
        self._place = 0
        return not self._ended

    def _skip(self, characters: str) -> bool:
        """Go on to what is none of these; whether there is anything."""
        while True:
            while self._place < len(self._text) and self._text[self._place] in characters:
                self._line += self._text[self._place] == "\n"
                self._place += 1
            if self._place < len(self._text):
                return True
            if not self._more():
                return False

    def values(self) -> Iterator[tuple[int, Any]]:
        """Every element with its line; behind a broken one, reading goes on with the next line."""
        self._skip(" \t\r\n")
        self._place += 1
        while self._skip(" \t\r\n,"):
            if self._text[self._place] == "]":
                self._place += 1
                if self._skip(" \t\r\n"):
                    yield self._line, Broken("something follows the array, and was not read")
                return
            try:
                value, end = self._decode(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if not self._ended and len(self._text) - self._place <= MAX_LINE and self._more():
                    continue
                yield self._line, Broken(_why(error))
                end = self._text.find("\n", self._place)
                if end < 0:
                    return
            else:
                yield self._line, _unless_broken(value, self._text[self._place : end])
            self._line += self._text.count("\n", self._place, end)
            self._place = end
        yield self._line, Broken("the array is cut off")
