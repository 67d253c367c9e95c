# The tasks of the project. `make demo` and `make test` need Python 3.11 and PyPI, nothing else.

PYTHON ?= python3.11
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test test-processes lint format

# Converts a trained classifier and compares its answers in OpenVINO Runtime with the labels of held-out images.
demo: $(INSTALLED)
	$(BIN)/python examples/digits/run.py

test: $(INSTALLED)
	$(BIN)/lit -q tests/filecheck
	$(BIN)/python -m pytest -q

# The lit tests as a user runs the tools: every command a process of its own.
test-processes: $(INSTALLED)
	MOIR_LIT_PROCESSES=1 $(BIN)/lit -q tests/filecheck

lint: $(INSTALLED)-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(INSTALLED)-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[test]'
	touch $@

$(INSTALLED)-dev: $(INSTALLED)
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@
