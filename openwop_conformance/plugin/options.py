"""The options of the plugin and what they say."""

from typing import Any

import pytest

from openwop_conformance.configuration import Options
from openwop_conformance.option_table import OPTIONS, Option
from openwop_conformance.secret import Secret


def add_options(parser: pytest.Parser) -> None:
    """Declare the options; only `--host-url` goes without a prefix."""
    group = parser.getgroup("openwop", "OpenWOP conformance")
    for option in OPTIONS:
        group.addoption(option.pytest_flag, **_declaration(option))


def _declaration(option: Option) -> dict[str, Any]:
    if not option.value:
        return {"action": "store_true", "default": False, "help": option.help}
    if option.choices:
        return {"choices": option.choices, "default": None, "help": option.help}
    many = {"action": "append", "default": []} if option.many else {"default": None}
    return {"metavar": option.value, "type": option.type, "help": option.help, **many}


def read_options(config: pytest.Config) -> Options:
    """What was said on the command line."""
    said = {option.name: config.getoption(option.pytest_flag) for option in OPTIONS}
    return options_from(said)


def options_from(said: dict[str, Any]) -> Options:
    """Options by their plain names, as both pytest and the command collect them."""
    return Options(
        host_url=said["host-url"],
        token=_secret(said["token"]),
        token_file=said["token-file"],
        second_token=_secret(said["second-token"]),
        second_token_file=said["second-token-file"],
        hidden_tool_ids=tuple(said["hidden-tool-id"]),
        run_ids=tuple(said["run-id"]),
        strict=said["strict"],
        opt_outs=tuple(said["opt-out"]),
        config=said["config"],
        list_shape=said["list-shape"],
        destructive=said["destructive"],
        timing=said["timing"],
        previous=said["previous"],
        fail_on=said["fail-on"],
        reports=tuple(said["report"]),
        select=tuple(said["select"]),
    )


def _secret(value: str | None) -> Secret | None:
    return None if value is None else Secret(value)
