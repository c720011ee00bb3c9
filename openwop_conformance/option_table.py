"""The options of a run, said once for pytest and for the command."""

from dataclasses import dataclass
from pathlib import Path

PREFIX = "openwop-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option; `value` names its argument, and a flag has none."""

    name: str
    help: str
    value: str = ""
    file: bool = False
    many: bool = False
    choices: tuple[str, ...] = ()
    prefixed: bool = True

    @property
    def pytest_flag(self) -> str:
        """How pytest spells it."""
        return f"--{PREFIX if self.prefixed else ''}{self.name}"

    @property
    def command_flag(self) -> str:
        """How the command spells it."""
        return f"--{self.name}"

    @property
    def type(self) -> type[str] | type[Path]:
        """What its argument becomes."""
        return Path if self.file else str


OPTIONS = (
    Option(
        name="host-url", value="URL", prefixed=False, help="base URL of the host, or `reference` for the embedded one"
    ),
    Option(name="token", value="TOKEN", help="token of the first principal (OPENWOP_API_KEY)"),
    Option(name="token-file", value="FILE", file=True, help="file that holds the token of the first principal"),
    Option(name="second-token", value="TOKEN", help="token of a second principal (OPENWOP_SECOND_API_KEY)"),
    Option(name="second-token-file", value="FILE", file=True, help="file that holds the token of the second principal"),
    Option(
        name="hidden-tool-id", value="ID", many=True, help="a tool id that the first principal must not see; repeatable"
    ),
    Option(name="run-id", value="ID", many=True, help="a run that exists, to check the sessions of; repeatable"),
    Option(name="strict", help="fail what is not advertised or blocked (OPENWOP_REQUIRE_BEHAVIOR=true)"),
    Option(name="opt-out", value="PROFILE", many=True, help="a profile that the host may leave out; repeatable"),
    Option(name="config", value="FILE", file=True, help="settings file in YAML"),
    Option(
        name="list-shape", value="any|object|array", choices=("any", "object", "array"), help="pin the body of the list"
    ),
    Option(name="destructive", help="allow attempts to write that name real tools"),
    Option(name="timing", help="compare how long hidden and unknown ids take, as an advisory"),
    Option(name="previous", value="FILE", file=True, help="an earlier JSON report of this host, to compare ids with"),
    Option(name="fail-on", value="fail|advisory", choices=("fail", "advisory"), help="what makes a run fail"),
    Option(
        name="report",
        value="FILE",
        file=True,
        many=True,
        help="write a report; the ending chooses the format; repeatable",
    ),
    Option(name="select", value="SECTION|ID", many=True, help="only a section (B, F-2) or one requirement; repeatable"),
)
