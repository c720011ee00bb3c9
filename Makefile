# Everything sets itself up: only Python 3.11 or newer and make have to be there.
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
  $(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
BIN := .venv/bin
READY := .venv/ready
COMPAT := .compat/bin
MATRIX := tests/plugin/test_mutants.py tests/plugin/test_checks_matter.py

.PHONY: run test compat bench mutate words clean

run: $(READY)
	@$(BIN)/openwop-conformance run

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest tests -n 2 $(addprefix --ignore=,$(MATRIX))
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/python -m pytest $(MATRIX) -n 4

compat: .compat/ready
	$(COMPAT)/python -m pytest tests/plugin/test_manners.py tests/plugin/test_runs.py -n 2

words: $(READY)
	$(BIN)/python -m pytest tests/unit --snapshot-update

mutate: $(READY)
	rm -rf mutants
	$(BIN)/mutmut run --max-children 2
	$(BIN)/python -m tests.mutation_page > docs/mutation.md

bench: $(READY)
	$(BIN)/python -m benchmarks.sessions
	$(BIN)/python -m benchmarks.planted

clean:
	rm -rf .venv .compat mutants build dist *.egg-info .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it with: make PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

.compat/ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it with: make PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv --clear .compat
	$(COMPAT)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' 'pytest>=8,<9'
	@touch $@
