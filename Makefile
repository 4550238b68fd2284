# Everything a person or CI runs. `make demo` and `make test` need only Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test slow portable minimal chaos fuzz check format docs bench scale calibrate clean

demo: $(VENV)/ready  ## Tune and train two real learners over 54 paired replicates, then compare them.
	$(BIN)/outperform demo demo

# A third process works where the tests of engines, which two cores never fill, wait for one another;
# who is done takes over from who is not.
test: $(VENV)/ready  ## Every test but the slow ones, on three processes.
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not slow"

slow: $(VENV)/ready  ## The slow ones: calibrations, clusters killed at random, properties once more with more examples.
	$(BIN)/python -m pytest -n 2 -m "slow or hypothesis" --hypothesis-profile thorough

# OpenBLAS adds up in another order on another processor: posing as one shows what hangs on the last
# bit. Any processor with AVX2 can pose as these; where numpy has another BLAS, nothing changes.
NUMERICAL := tests/test_doctests.py tests/stats tests/study
portable: $(VENV)/ready  ## The numerical tests and examples as two other processors compute them.
	OPENBLAS_CORETYPE=Haswell $(BIN)/python -m pytest -n 2 -m "not slow" $(NUMERICAL)
	OPENBLAS_CORETYPE=Prescott $(BIN)/python -m pytest -n 2 -m "not slow" $(NUMERICAL)

minimal: $(VENV)-minimal/ready  ## The tests without any optional dependency.
	$(VENV)-minimal/bin/python -m pytest -n 2 -m "not slow"

fuzz: $(VENV)/ready  ## Inputs that nobody meant, FUZZ_INPUTS (10,000) of every kind; a table of what became of them.
	$(BIN)/python -m tests.fuzz

check: $(VENV)/ready  ## Lint, format, types, generated docs.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python docs/generate.py --check

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/ready  ## Write the generated pages anew.
	$(BIN)/python docs/generate.py

bench: $(VENV)/ready $(VENV)-peers/ready  ## Speed as ratios, side by side with others, in one run.
	$(BIN)/python bench/run.py --peers $(VENV)-peers/bin/python

scale: $(VENV)/ready  ## A thousand simulated workers, a real coordinator: writes the table of docs/scale.md.
	$(BIN)/python bench/scale.py

calibrate: $(VENV)/ready  ## How often every rule, interval and test errs: writes docs/calibration.md.
	$(BIN)/python -m calibration

CHAOS_MINUTES ?= 5
chaos: $(VENV)/ready  ## Kill, damage and starve real runs at random moments: is anything lost?
	$(BIN)/python -m chaos --minutes $(CHAOS_MINUTES)

clean:
	rm -rf $(VENV) $(VENV)-minimal $(VENV)-peers demo

$(VENV)/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "outperform needs Python 3.11 or newer; run: make $(MAKECMDGOALS) PYTHON=python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)-minimal/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)-minimal
	$(VENV)-minimal/bin/python -m pip install --quiet --editable '.[test]'
	@touch $@

# Peers bring old or heavy dependencies, so they live in an environment of their own.
$(VENV)-peers/ready: bench/peers.txt
	$(PYTHON) -m venv $(VENV)-peers
	for peer in $$(cat bench/peers.txt); do \
		$(VENV)-peers/bin/python -m pip install --quiet "$$peer" || echo "$$peer does not install here"; \
	done
	@touch $@
