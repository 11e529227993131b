# make demo    set up, build, then train two models on device neuron and show how they compare
# make test    set up, build, run the C++ and Python suites
# make help    everything else
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BUILD := build
JOBS ?= $(shell nproc)
# pip's progress bars for a person, nothing for a log.
PIP_OUTPUT := $(shell [ -t 2 ] && echo "--progress-bar on" || echo "-q")

MODULES ?= 10000
FIRST ?= 0
FUZZ_SECONDS ?= 600

.PHONY: help demo test googletest test-groups fuzz fuzz-containers test-cpp test-python test-asan test-asan-python test-tsan build lint check tidy format generate bench clean doctor checked

help:
	@sed -n 's/^# make/make/p' Makefile
	@echo "make build   set up .venv and install torchneuron into it (editable)"
	@echo "make doctor  what is missing on this machine"
	@echo "make test-cpp / test-python  one of the two suites"
	@echo "make lint    formats, then lint, types, layering, generated files"
	@echo "make format  formats only"
	@echo "make check   the same, and clang-tidy on what changed"
	@echo "make tidy    clang-tidy over all of src (slow)"
	@echo "make generate  rewrite the generated pages and stubs"
	@echo "make bench   benchmarks, as ratios to PyTorch CPU in the same run"
	@echo "make test-asan / test-tsan   the C++ suite under sanitizers"
	@echo "make clean   removes build/ and demo-output/"
	@echo "make fuzz    $(MODULES) random HLO modules against XLA (MODULES=n, FIRST=seed)"
	@echo "make test-groups             both suites, each program with and without instruction groups"
	@echo "make fuzz-containers         damaged programs and modules under ASan and UBSan (FUZZ_SECONDS=600)"
	@echo "make test-asan-python        the Python suite on libraries under ASan and UBSan"

checked:
	@PYTHON=$(PYTHON) scripts/doctor.sh

doctor: checked
	@echo "everything needed is here"

# One stamp per requirements file: what is installed is installed once.
$(VENV)/.created: | checked
	@echo "==> making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@
$(VENV)/.requirements-%: requirements/%.txt requirements/build.txt $(VENV)/.created
	@echo "==> installing requirements/$*.txt"
	@$(BIN)/pip install --disable-pip-version-check --no-warn-script-location $(PIP_OUTPUT) -r requirements/$*.txt
	@touch $@

build: $(VENV)/.requirements-build
	@scripts/build.sh

demo: $(VENV)/.requirements-demo build
	@echo "==> training two models, each on CPU, on neuron eagerly and on neuron compiled (1620 steps)"
	@$(BIN)/python -m demo

test: googletest $(VENV)/.requirements-test build test-cpp test-python

# Before anything long: what is missing is said at once.
googletest: | checked
	@scripts/googletest.sh

test-cpp: $(VENV)/.requirements-test
	@scripts/test_cpp.sh release ""

test-python: build
	@scripts/test_python.sh

test-asan: $(VENV)/.requirements-test
	@scripts/test_cpp.sh asan address,undefined

test-asan-python: $(VENV)/.requirements-test
	@scripts/test_python_asan.sh

test-tsan: $(VENV)/.requirements-test
	@scripts/test_cpp.sh tsan thread

test-groups: $(VENV)/.requirements-test build
	@scripts/test_groups.sh

fuzz: $(VENV)/.requirements-test build test-cpp
	@scripts/fuzz.sh $(MODULES) $(FIRST)

fuzz-containers: test-asan
	@scripts/fuzz_containers.sh $(FUZZ_SECONDS)

lint: $(VENV)/.requirements-develop build
	@scripts/check.sh

check: lint
	@scripts/check.sh tidy

tidy: $(VENV)/.requirements-develop build
	@scripts/tidy.sh

format: $(VENV)/.requirements-develop
	@git ls-files '*.cpp' '*.h' | xargs $(BIN)/clang-format -i
	@$(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

generate: $(VENV)/.requirements-test build
	@$(BIN)/python scripts/generate.py

bench: $(VENV)/.requirements-test build
	@$(BIN)/python -m benchmarks

clean:
	rm -rf $(BUILD) demo-output
