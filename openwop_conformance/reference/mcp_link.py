"""A live MCP server over stdio, through the official SDK, kept open in a thread of its own."""

import asyncio
import atexit
import os
import sys
import threading
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import Any

EMBEDDED = "embedded"
START_SECONDS = 20
CALL_SECONDS = 20
_Call = tuple[str, dict[str, Any], Future[dict[str, Any]]]


class McpUnavailable(Exception):
    """The `mcp` extra is not installed, or the server does not answer."""


class McpLink:
    """One connection; calls from any thread are carried out in the order in which they come."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command
        self._loop = asyncio.new_event_loop()
        self._calls: asyncio.Queue[_Call | None] = asyncio.Queue()
        self._listed: Future[list[dict[str, Any]]] = Future()
        self._thread = threading.Thread(target=self._run, name="openwop-mcp", daemon=True)
        self._thread.start()

    def tools(self) -> list[dict[str, Any]]:
        """What the server lists, as it would stand in a document."""
        try:
            return self._listed.result(START_SECONDS)
        except Exception as error:  # noqa: BLE001 - of whatever kind, there is no list
            raise McpUnavailable(f"the MCP server could not be listed: {error or type(error).__name__}") from None

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool; raises `McpUnavailable` where the connection is gone."""
        done: Future[dict[str, Any]] = Future()
        try:
            self._loop.call_soon_threadsafe(self._calls.put_nowait, (name, arguments, done))
            return done.result(CALL_SECONDS)
        except Exception as error:  # noqa: BLE001 - of whatever kind, the call did not return
            raise McpUnavailable(f"{name}: {error or type(error).__name__}") from None

    def close(self) -> None:
        """End the connection and the server behind it."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._calls.put_nowait, None)
            self._thread.join(START_SECONDS)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001 - whoever waits for the list has to hear of it
            if not self._listed.done():
                self._listed.set_exception(McpUnavailable(str(error) or type(error).__name__))
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        from mcp import StdioServerParameters, stdio_client  # noqa: PLC0415 - an extra, and slow to import
        from mcp.client.client import Client  # noqa: PLC0415

        parameters = StdioServerParameters(command=self._command[0], args=list(self._command[1:]))
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            async with Client(stdio_client(parameters, errlog=nowhere)) as client:
                listed = await client.list_tools()
                self._listed.set_result([_plain(one) for one in listed.tools])
                while (call := await self._calls.get()) is not None:
                    name, arguments, done = call
                    try:
                        done.set_result(_plain(await client.call_tool(name, arguments)))
                    except Exception as error:  # noqa: BLE001 - the caller decides what it means
                        done.set_exception(error)


def _plain(model: Any) -> dict[str, Any]:
    plain: dict[str, Any] = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    return plain


@cache
def link_to(command: tuple[str, ...]) -> McpLink:
    """The connection of this process to a server, opened once; the server that ships along is `embedded`."""
    own = (sys.executable, "-m", "openwop_conformance.reference.mcp_server")
    link = McpLink(own if command == (EMBEDDED,) else command)
    atexit.register(link.close)
    return link
