# Everything that a person or CI runs. `make demo` needs Python 3.11 or newer and nothing else.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# All state of the pipeline: ledger, artifacts, embedded store, Dagster's runs.
export RAG_HOME ?= .rag

# Where `make evaluate` writes what it found.
PAGE ?= evaluation.html

# The first of these that is Python 3.11 or newer; `make install PYTHON=…` chooses another.
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)

VENV := .venv
BIN := $(VENV)/bin
# Says only what went wrong. Python compiles what it imports; compiling all of it would take most of a minute.
PIP := $(BIN)/python -m pip install -qq --no-compile --disable-pip-version-check
# Touched when done, so that nothing is installed twice.
PRODUCT := $(VENV)/.product-installed
TOOLS := $(VENV)/.tools-installed

.PHONY: help install demo evaluate ui lint types contracts test test-nightly bench format constraints clean

help: ## List the targets.
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14

install: $(TOOLS) ## Install the package and the tools to work on it into .venv.

$(PRODUCT): pyproject.toml constraints.txt
	@[ -n "$(PYTHON)" ] || { echo "Python 3.11 or newer is needed, and neither python3 nor python3.11 to" \
		"python3.13 is one. Install it, or name it: make install PYTHON=/path/to/python" >&2; exit 1; }
	@echo "Installing into $(VENV) with $$($(PYTHON) --version), a minute or two"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -c constraints.txt --upgrade pip
	@$(PIP) -c constraints.txt --editable .
	@touch $@

$(TOOLS): $(PRODUCT)
	@$(PIP) -c constraints.txt --group dev
	@touch $@

demo: $(PRODUCT) ## Index the sample corpus, search it in English and Chinese, and ask it.
	$(BIN)/rag-pipeline index
	$(BIN)/rag-pipeline retrieve --groups support,employees --limit 3 \
		-q "Within how many days of delivery may hardware be returned?" \
		-q "值班工程师要在多长时间内确认 P1 告警？"
	$(BIN)/rag-pipeline ask "Within how many days of delivery may hardware be returned?" --groups support

evaluate: $(PRODUCT) ## Index the sample corpus, ask its question set, hold the gates; the page is $(PAGE).
	$(BIN)/rag-pipeline index
	$(BIN)/rag-pipeline eval check
	$(BIN)/rag-pipeline eval --html $(PAGE)

ui: $(PRODUCT) ## Open Dagster on the sources in manifests/.
	@exec $(BIN)/rag-pipeline ui

lint: $(TOOLS) ## Check style and formatting.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(TOOLS) ## Check types.
	$(BIN)/mypy

contracts: $(TOOLS) ## Check that imports point down the layers.
	$(BIN)/lint-imports

# Three at a time on two cores, since tests of servers and processes mostly wait. ARGS='-n 0' runs them one by one.
test: $(TOOLS) ## Run the tests, also against a real Qdrant server; ARGS='-k store' narrows.
	$(BIN)/pytest --numprocesses 3 --dist worksteal $(ARGS)

NIGHTLY := $(addprefix rag_pipeline_tests/test_, fuzzing.py crash_matrix.py reading_while_writing.py faults.py state_machine.py)

test-nightly: $(TOOLS) ## Break documents, kill runs at every instant, try histories in every order: some hours.
	$(BIN)/pytest --hypothesis-profile nightly $(NIGHTLY) $(ARGS)

bench: $(TOOLS) ## Measure quality, speed and memory.
	$(BIN)/python -m benchmarks $(ARGS)

format: $(TOOLS) ## Format the code and fix what can be fixed.
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

# On the oldest supported Python, so that every pin exists there too.
constraints: PYTHON := python3.11
constraints: FRESH := .cache/constraints
constraints: ## Resolve the newest versions that pyproject.toml allows into constraints.txt.
	rm -rf $(FRESH)
	$(PYTHON) -m venv $(FRESH)
	$(FRESH)/bin/pip install -qq --upgrade pip
	$(FRESH)/bin/pip install -qq --editable '.[postgres,s3]' --group dev
	{ echo '# Made by `make constraints`: all that the package, its extras postgres and s3 and its tools need.'; \
		$(FRESH)/bin/pip freeze --all --exclude-editable --exclude setuptools | LC_ALL=C sort -f; } > $(FRESH)/constraints.txt
	mv $(FRESH)/constraints.txt constraints.txt

clean: ## Remove the environment and caches; indexed state in RAG_HOME stays.
	rm -rf $(VENV) .cache build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
