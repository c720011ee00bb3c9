"""`python -m openwop_conformance` is the command."""

from openwop_conformance.cli import main

main(prog_name="openwop-conformance")
