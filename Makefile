# Every target sets up what it needs first. ARGS="..." goes to the tool behind a target.

ARGS =
EXTRAS = agent,tui,web
PYTHON =
COMPILE = scripts/uv pip compile --quiet --upgrade --universal --python-version 3.12 \
	--generate-hashes --no-header pyproject.toml
SOURCES := $(shell find src -name '*.py')
TESTS := $(shell find tests -name '*.py')

.PHONY: help install setup run test test-lengthy test-all check bench vendors docs pictures fmt pins clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

install: ## install the command `rookery` for yourself; EXTRAS=agent,tui,web PYTHON=3.13
	@scripts/install --extras "$(EXTRAS)" --python "$(PYTHON)"

setup: .venv/.compiled ## make the environment (.venv)

# What set-up says goes to stderr: the stdout of `make run` is a transcript.
.venv/.ready: pyproject.toml .python-version requirements/dev.txt scripts/setup
	@echo "Setting up .venv" >&2
	@scripts/setup >&2
	@touch $@

# Compiled here, since the environment may forbid Python to keep bytecode.
.venv/.compiled: .venv/.ready $(SOURCES)
	@.venv/bin/python -m compileall -q src >&2
	@touch $@

.venv/.rewritten: .venv/.compiled $(TESTS)
	@.venv/bin/python -m compileall -q -x '/test_' tests >&2
	@.venv/bin/python -m tests.rewriting >&2
	@touch $@

run: setup ## start Rookery; without a terminal, play one turn of the demo agent
	@scripts/run

test: .venv/.rewritten ## run the tests
	@scripts/tools
	@scripts/test $(ARGS)

test-lengthy: .venv/.rewritten ## run the tests in tests/lengthy.txt, which CI runs after the others
	@scripts/tools
	@SELECT="lengthy and not long" scripts/test

# 5 is pytest's word for "none selected": there may be no long test. Hypothesis tries more examples.
test-all: test ## run the tests, then the long ones
	@scripts/tools long
	scripts/pytest -m "long or lengthy or hypothesis" $(ARGS) || [ $$? -eq 5 ]

check: setup ## format, lint, types, layers and shape
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/lint-imports
	.venv/bin/pytest -q tests/shape

bench: setup ## measure against the budgets
	@scripts/tools
	.venv/bin/python -m bench $(ARGS)

vendors: setup ## drive other vendors' agents and rewrite the table in docs/vendors.md
	.venv/bin/python -m tools.vendors $(ARGS)

docs: setup ## write the tables in docs that are made from the catalogue
	.venv/bin/python -m tools.api_page

pictures: setup ## redraw docs/pictures (needs chromium and tmux)
	.venv/bin/python -m tools.pictures $(ARGS)

fmt: setup ## format, and mend what ruff can
	.venv/bin/ruff format
	.venv/bin/ruff check --fix

pins: ## pin the newest versions in requirements/, and report releases beyond the bounds
	$(COMPILE) --output-file requirements/base.txt
	$(COMPILE) --extra agent --extra tui --extra web --extra push --extra dev --output-file requirements/dev.txt
	@scripts/uv run --quiet --no-project --python '>=3.12' python tools/bounds.py

clean: ## remove what set-up and the tools made
	rm -rf .venv .uv .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
