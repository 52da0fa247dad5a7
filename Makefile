# Everything runs in a virtual environment of its own; a machine needs only Python >= 3.11 and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: stress-ranks help demo test test-networkx test-wheel wheel compile-cuda test-deep stress faults random-programs lint bench docs test-gpu bench-gpu sanitize-gpu stress-gpu \
	random-programs-gpu clean

help:
	@echo "make demo       set up and run the main job on the CPU"
	@echo "make test       set up and run all tests"
	@echo "make compile-cuda   compile all CUDA sources, without a device"
	@echo "make test-wheel build a wheel, and try it in an environment without a compiler"
	@echo "make wheel      build a wheel for all processors of this kind, into dist/"
	@echo "make test-networkx  all of NetworkX's own tests, on the backend"
	@echo "make test-deep  every algorithm and program on every legal path, on 200 random graphs each"
	@echo "make stress     many threads against one, on every parallel path, for ten minutes (STRESS=\"--seconds 60\")"
	@echo "make faults     1,000 injected faults of files, disks and budgets (FAULTS=1000)"
	@echo "make stress-ranks  200 faults on ranks of MPI jobs, each started again from its checkpoint"
	@echo "make random-programs  500 programs drawn at random on the CPU, against the reference engine (PROGRAMS=500)"
	@echo "make lint       ruff, mypy --strict, import layers"
	@echo "make bench      measure against peers; results go to benchmarks/results/"
	@echo "make docs       build the documentation into site/"
	@echo "make test-gpu   the tests that need a CUDA device"
	@echo "make stress-gpu, make random-programs-gpu  the same on a CUDA device"
	@echo "make bench-gpu  the measurements that need a CUDA device"
	@echo "make sanitize-gpu  compute-sanitizer over every algorithm and path on small graphs"

# A stamp an extra set: the environment is made again only when pyproject.toml changes.
$(VENV)/.made:
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'Dromos needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

# Kernels are compiled as they are needed, since sources change; only wheels bring machine code.
export HATCH_BUILD_NO_HOOKS = true
$(VENV)/.installed: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[compiler]'
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

PYTEST = $(BIN)/python -m pytest -q

# In the order of collection, so that the many small doctests come last and all cores are busy to the end; by one worker
# more than there are cores, since tests wait for files, threads and processes. Many start processes: those find the
# package as bytecode, whatever the environment says.
WORKERS = $$($(BIN)/python -c 'from dromos.parallel import num_threads; print(num_threads(None) + 1)')
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.installed-dev
	$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder --assert=plain -m "not nvrtc" \
		|| { echo "The failed tests once more, with the values that they found:"; $(PYTEST) --last-failed; exit 1; }

# Every CUDA source for two architectures, without a device. Apart from the tests: it takes a tenth of their time, and
# nothing but a change of these sources, of the code generator or of a program changes what it finds.
compile-cuda: $(VENV)/.installed-dev
	$(PYTEST) -n auto --dist loadfile -m nvrtc tests/cuda tests/program tests/benchmarks_gpu

# Without HATCH_BUILD_NO_HOOKS a wheel brings machine code, which takes some minutes.
BUILD_WHEEL = env -u HATCH_BUILD_NO_HOOKS $(BIN)/python -m build --wheel

wheel: $(VENV)/.installed-dev
	DROMOS_WHEEL=portable $(BUILD_WHEEL)
	$(BIN)/twine check --strict dist/*.whl

# As on a small machine: the packages that Dromos cannot do without, and no compiler.
test-wheel: $(VENV)/.installed-dev
	rm -rf build/wheel && mkdir -p build/wheel
	$(BUILD_WHEEL) --outdir build/wheel
	$(BIN)/twine check --strict build/wheel/*.whl
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --no-deps build/wheel/*.whl
	build/wheel/venv/bin/python -m pip install --quiet 'numpy>=2' typer rich
	cd build/wheel && for threads in 2 16; do DROMOS_NUM_THREADS=$$threads venv/bin/python ../../tools/check_wheel.py || exit 1; done

# NetworkX's own tests, with every call that the backend can answer sent to it; the share of them is told at the end.
# On a small machine a part of them will do: make test-networkx NETWORKX=networkx.algorithms.centrality
NETWORKX ?= networkx
test-networkx: export PYTHONDONTWRITEBYTECODE =
test-networkx: $(VENV)/.installed-dev
	NETWORKX_TEST_BACKEND=dromos NETWORKX_FALLBACK_TO_NX=True $(PYTEST) -n auto --dist loadfile --assert=plain \
		-c tests/networkx_backend/networkx_suite.ini -p tests.networkx_backend.networkx_suite --pyargs $(NETWORKX)

test-deep: $(VENV)/.installed-dev
	DROMOS_TEST_EXAMPLES=200 $(BIN)/python -m pytest -q -n auto --dist loadfile tests/algorithms tests/cuda tests/engines tests/many tests/program

# Options: python -m tests.stress --help
stress: $(VENV)/.installed-dev
	$(BIN)/python -m tests.stress $(STRESS)

FAULTS ?= 1000
faults: $(VENV)/.installed-dev
	$(BIN)/python -m tests.faults --faults $(FAULTS)

stress-ranks: $(VENV)/.installed-dev
	$(BIN)/python -m tests.cluster.faults --count 200

# "200:300" asks for the seeds from one to another.
PROGRAMS ?= 500
RANDOM_PROGRAMS = DROMOS_TEST_PROGRAMS=$(PROGRAMS)

random-programs: $(VENV)/.installed-dev
	$(RANDOM_PROGRAMS) $(BIN)/python -m pytest -q -n auto -k test_on_the_cpu tests/engines/test_random_programs.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@if grep -rnE '(src|<link[^>]* href)="(https?:)?//' site --include='*.html'; then echo "the site loads from another host"; exit 1; fi
	@echo "open site/index.html"

# On a machine with a GPU the system's Python usually has CuPy; nothing is installed there. Logs are kept: they are what
# a change to the CUDA engine is judged by. Where only the files of a commit are, DROMOS_COMMIT says of which.
GPU_RESULTS ?= benchmarks/results/h200
# Compiling takes the time, so several processes share the device. (pytest-benchmark, where it is, warns about that.)
GPU_TEST_WORKERS ?= 12
ON_GPU := PYTHONPATH=src:. PYTHONUNBUFFERED=1
LOGGED = 2>&1 | tee -a $(GPU_RESULTS)/$@.log

test-gpu: SHELL := /bin/bash -o pipefail
test-gpu: $(GPU_RESULTS)
	@$(STAMP)
	$(ON_GPU) $(PYTHON) -m pytest -q -p no:benchmark -n $(GPU_TEST_WORKERS) --dist worksteal -m gpu tests $(LOGGED)
	$(ON_GPU) DROMOS_TEST_DEVICES=cuda $(PYTHON) -m pytest -q -p no:benchmark -n $(GPU_TEST_WORKERS) --dist worksteal -k cuda tests/algorithms tests/engines $(LOGGED)
	$(ON_GPU) DROMOS_TEST_DEVICES=cuda DROMOS_TEST_EXAMPLES=200 \
		$(PYTHON) -m pytest -q -p no:benchmark -n $(GPU_TEST_WORKERS) --dist worksteal -k cuda tests/many $(LOGGED)

# Every case once over, five runs in a row.
stress-gpu: SHELL := /bin/bash -o pipefail
stress-gpu: $(GPU_RESULTS)
	@$(STAMP)
	$(ON_GPU) $(PYTHON) -m tests.stress --device cuda --processes $(GPU_TEST_WORKERS) --rounds 1 --runs 5 --load 0 $(STRESS) $(LOGGED)

random-programs-gpu: SHELL := /bin/bash -o pipefail
random-programs-gpu: $(GPU_RESULTS)
	@$(STAMP)
	$(ON_GPU) $(RANDOM_PROGRAMS) $(PYTHON) -m pytest -q -p no:benchmark -n $(GPU_TEST_WORKERS) -k test_on_a_gpu \
		tests/engines/test_random_programs.py $(LOGGED)

bench-gpu:
	$(ON_GPU) $(PYTHON) -m benchmarks --gpu

# CuPy's own kernels are not looked at: racecheck warns of one that numbers the non-zeros.
NOT_OURS := --kernel-name-exclude kns=cupy_
sanitize-gpu: SHELL := /bin/bash -o pipefail
sanitize-gpu: $(GPU_RESULTS)
	@$(STAMP)
	export $(ON_GPU); for tool in memcheck racecheck; do $(PYTHON) -m benchmarks.gpu.sanitize --list | xargs -d '\n' -P 14 -I{} \
		compute-sanitizer --tool $$tool $(NOT_OURS) --error-exitcode 1 $(PYTHON) -m benchmarks.gpu.sanitize {} || exit 1; done $(LOGGED)

# A log begins with where and when, and of which commit.
STAMP = (date -u +"%Y-%m-%d %H:%M UTC"; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; \
	echo "commit $${DROMOS_COMMIT:-$$(git rev-parse --short HEAD)}; make $@") > $(GPU_RESULTS)/$@.log

$(GPU_RESULTS):
	@mkdir -p $@

clean:
	rm -rf $(VENV) site demo build dist
