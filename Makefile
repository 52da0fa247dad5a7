# Everything runs in a virtual environment of its own; a machine needs only Python >= 3.11 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint bench docs test-gpu bench-gpu clean

help:
	@echo "make demo       set up and run the main job on the CPU"
	@echo "make test       set up and run all tests"
	@echo "make lint       ruff, mypy --strict, import layers"
	@echo "make bench      measure against peers; results go to benchmarks/results/"
	@echo "make docs       build the documentation into site/"
	@echo "make test-gpu   the tests that need a CUDA device"
	@echo "make bench-gpu  the measurements that need a CUDA device"

# A stamp an extra set: the environment is made again only when pyproject.toml changes.
$(VENV)/.made:
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'Dromos needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)/.installed-bench: $(VENV)/.installed-dev
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -n auto --dist loadfile

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.installed-docs
	$(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

# On a machine with a GPU the system's Python usually has CuPy; nothing is installed there.
test-gpu:
	PYTHONPATH=src $(PYTHON) -m pytest -q -m gpu tests || { [ $$? -eq 5 ] && echo "no test needs a CUDA device yet"; }

bench-gpu:
	PYTHONPATH=src $(PYTHON) -m benchmarks --gpu

clean:
	rm -rf $(VENV) site demo build dist
