# Everything a person or a machine runs here; `make help` lists it.

PYTHON ?= python3
WORKERS ?= 2
PYTEST_ARGS ?=
CHAINFORM_CPU ?=
export CHAINFORM_CPU
LESSER_CPU := $(if $(filter x86_64,$(shell uname -m)),x86-64-v2,generic)
UV_VERSION := 0.13.7

# Bytecode is written, so that the processes that tests start do not compile the sources again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
UV := .venv-lock/bin/uv
# A worker has files one after the other, so that what their tests share is made once; one that is
# done takes over half of what the other still has, so that all end at the same time.
WORKING = -n $(WORKERS) --dist worksteal
PYTEST = $(BIN)/pytest $(WORKING)
COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header $(if $(UPGRADE),--upgrade) pyproject.toml

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-fast test-gpu coverage check format lock docs clean setup

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/.core  ## derive and show a first model
	$(BIN)/python examples/demo.py

test: setup $(VENV)/.dev  ## run the tests, all but those that need a GPU
	@echo "GPU tests are left out; run them with 'make test-gpu'."
	$(PYTEST) -m "not gpu" $(PYTEST_ARGS)
# Once more what depends on the processor, each behaviour once, for one without long registers and
# fused products; neither for another choice of tests nor for another choice of processor.
ifeq ($(CHAINFORM_CPU)$(PYTEST_ARGS),)
	CHAINFORM_CPU=$(LESSER_CPU) $(PYTEST) --first-cases -m "not gpu and not any_processor" \
		tests/unit/runtime tests/laws tests/unit/simulation
endif

test-fast: $(VENV)/.dev  ## run the first case of each test that is not marked slow
	$(PYTEST) --fast $(PYTEST_ARGS)

coverage: setup $(VENV)/.dev  ## run the tests, and print the lines and branches reached by rooms
	$(BIN)/coverage erase
	-$(BIN)/coverage run -m pytest $(WORKING) -m "not gpu" $(PYTEST_ARGS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o - | $(BIN)/python tools/room_coverage.py

test-gpu: setup $(VENV)/.dev  ## run the tests that need a GPU
	$(BIN)/pytest -m gpu $(PYTEST_ARGS)

check: $(VENV)/.dev  ## formatting, lint, types (of examples too), imports between rooms, rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/python tools/typed_examples.py mypy
	$(BIN)/python tools/typed_examples.py pyright
	$(BIN)/lint-imports
	$(BIN)/python tools/rooms.py

format: $(VENV)/.dev  ## format the sources and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.dev  ## build the documentation into site/
	$(BIN)/mkdocs build --strict

lock: $(UV)  ## regenerate both lock files (UPGRADE=1 takes the newest versions)
	$(COMPILE) --group build --group dev --output-file requirements.lock
	$(COMPILE) --group build --constraint requirements.lock --output-file requirements-core.lock

clean:  ## remove everything that was made here
	rm -rf $(VENV) .venv-lock site build dist
	rm -rf .pytest_cache .ruff_cache .hypothesis .import_linter_cache .coverage*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@PYTHON="$(PYTHON)" tools/setup.sh

# Two stages of one environment: the core runs the package, the rest is added for development. A
# changed lock or pyproject.toml starts from an empty environment, so that nothing stale stays.
$(VENV)/.core: pyproject.toml requirements-core.lock requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "chainform needs Python 3.11 or newer; choose it with: make PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --quiet --require-hashes -r requirements-core.lock
	$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	$(PIP) install --quiet --require-hashes -r requirements.lock
	@touch $@

$(UV): Makefile
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python -m pip --disable-pip-version-check install --quiet uv==$(UV_VERSION)
	@touch $@
