# Everything a contributor does, each as one word. `make` alone lists the words.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

NATIVE := $(shell find evsurf -name '*.cpp' -o -name '*.h') CMakeLists.txt

# Files whose age says when a step was last done.
TOOLS  := $(VENV)/.tools-installed
CORE   := $(VENV)/.core-built

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-full test-gpu fuzz check format bench docs build clean

help: ## list these words
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(CORE) ## make .venv with the package, its C++ core and every tool (PYTHON=python3.12 chooses)

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || { \
	    echo "evsurf needs Python 3.11 to 3.14, and $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	         "Name another one: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Dependency groups came with pip 25.1.
$(TOOLS): pyproject.toml $(VENV)/pyvenv.cfg
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

# Without isolation, so that the build folder survives and an edit recompiles one file. Python sources
# are found where they are and need no rebuild.
$(CORE): $(TOOLS) $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	@touch $@

demo: $(CORE) ## draw a picture of a stream of events
	$(BIN)/evsurf demo

test: $(CORE) ## the fast tests
	@$(BIN)/python -m pytest -q --durations=10

test-full: $(CORE) ## every test, with many more examples of each property
	@$(BIN)/python -m pytest -q --durations=10 --full -m ''

test-gpu: $(CORE) ## the tests that need a CUDA device; having none is a failure
	@EVSURF_REQUIRE_GPU=1 $(BIN)/python -m pytest -q --durations=10 -m gpu

FUZZED := $(addprefix evsurf/data/formats/native/,decoder.cpp evt2.cpp evt3.cpp records.cpp ecf.cpp text.cpp)
COUNT  ?= 10000000
SEED   ?= 0

build/fuzz/decoders: tests/fuzz/decoders.cpp $(wildcard evsurf/data/formats/native/*)
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -O2 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all \
	    $(if $(filter x86_64,$(shell uname -m)),-DEVSURF_X86=1) -Ievsurf -Ievsurf/ops \
	    $< $(FUZZED) -o $@

fuzz: build/fuzz/decoders ## feed COUNT damaged inputs (ten million) to the native decoders, under sanitizers
	$< $(COUNT) $(SEED)

check: $(CORE) ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(TOOLS) ## rewrite the files as `make check` wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: test ## time the operations, once the tests have passed
	@mkdir -p build
	$(BIN)/evsurf bench ops -o build/bench-ops.json

docs: $(CORE) ## the documentation, as build/docs/index.html
	$(BIN)/sphinx-build -q -E -W --keep-going -b html docs build/docs

build: $(TOOLS) ## a wheel and an archive of the sources, in dist/
	@mkdir -p dist
	$(BIN)/python -c 'from scikit_build_core import build; build.build_sdist("dist")'
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

clean: ## remove what was built, but not .venv
	rm -rf build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache $(CORE)
	find evsurf tests docs -name __pycache__ -type d -prune -exec rm -rf {} +
