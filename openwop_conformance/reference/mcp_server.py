"""A small MCP server over stdio: notes that live as long as the connection. Needs the `mcp` extra."""

from mcp.server.mcpserver import MCPServer

server = MCPServer("notes", version="1.0.0", log_level="ERROR")
_notes: list[str] = []


@server.tool(name="notes_add", title="Add note", description="Keeps a note and tells how many there are.")
def notes_add(text: str) -> dict[str, int]:
    """Keep a note."""
    _notes.append(text)
    return {"count": len(_notes)}


@server.tool(name="notes_list", title="List notes", description="Tells how many notes there are.")
def notes_list() -> dict[str, int]:
    """Count the notes."""
    return {"count": len(_notes)}


if __name__ == "__main__":
    server.run("stdio")
