# Tests start the program some thousand times: without compiled modules each start takes a third longer.
export PYTHONDONTWRITEBYTECODE :=
PYTHON ?= python3
WORKERS ?= auto
PYTEST_FLAGS ?=

ENVIRONMENT := .venv
BIN := $(ENVIRONMENT)/bin
INSTALLED := $(ENVIRONMENT)/.installed
INSTALLED_DEV := $(ENVIRONMENT)/.installed-dev
TOOLS := .venv-tools
INSTALLED_TOOLS := $(TOOLS)/.installed
LOCK_FLAGS ?=
FUZZ_EXAMPLES ?= 100000
SOAK_CALLS ?= 50000
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
# A process goes on with the next test of its area, so that it finds what the ones before have made.
PYTEST := $(BIN)/pytest --numprocesses=$(WORKERS) --dist=worksteal $(PYTEST_FLAGS)
BENCHMARKS := $(filter-out _%,$(patsubst benchmarks/%.py,%,$(sort $(wildcard benchmarks/*.py))))

.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint docs-site check rows-off docs refresh-golden bench fuzz soak lock sbom audit

help: ## say what can be made
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 22

demo: $(INSTALLED) ## see all of it work, without a phone
	@$(BIN)/droidgate demo

test: $(INSTALLED_DEV) ## run the quick tests of every area, in a few minutes
	$(PYTEST) --without-slow --hypothesis-profile=quick

test-all: $(INSTALLED_DEV) ## run all tests, those of leniencies with and without them
	$(PYTEST) --rows-off=also

lint: $(INSTALLED_DEV) ## check format (lines of Java too), types (also for Windows and macOS), layers, workflows
	@! LC_ALL=C.UTF-8 grep -rnE '.{111}' --include='*.java' device_shim
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	for system in win32 darwin; do \
		$(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system gateway adapters mappings device_shim || exit 1; \
	done
	$(BIN)/lint-imports
	$(BIN)/zizmor --offline --quiet .github

docs-site: $(INSTALLED_DEV) ## build the documentation site in dist/site
	$(BIN)/python scripts/build_site.py

check: lint ## check format, types, layers, and the completeness of the documents
	$(BIN)/pytest --quiet tests/docs

rows-off: $(INSTALLED_DEV) ## show that each leniency's own test fails when its row is switched off
	$(PYTEST) --quiet --rows-off=only

docs: $(INSTALLED_DEV) ## write the generated pages and the generated parts of others
	$(BIN)/python scripts/write_docs.py

refresh-golden: $(INSTALLED_DEV) ## write what the tests now see into tests/golden
	$(PYTEST) --refresh-golden

bench: $(INSTALLED_DEV) ## measure, and write the tables of docs/internals/benchmarks.md
	@set -e; for name in $(BENCHMARKS); do \
		echo "== $$name"; $(BIN)/python benchmarks/$$name.py --json benchmarks/results/$$name.json; \
	done
	$(BIN)/python scripts/write_docs.py

fuzz: $(INSTALLED_DEV) ## run the long forms of the property tests and attacks; FUZZ_EXAMPLES=N examples each
	DROIDGATE_FUZZ_EXAMPLES=$(FUZZ_EXAMPLES) $(PYTEST) tests/properties tests/hostile tests/gateway/devices tests/gateway/serving tests/device_shim/server_classes tests/mappings/compare/test_comparison_properties.py --hypothesis-profile=fuzz --timeout=0 -m "hypothesis or long"

soak: $(INSTALLED_DEV) ## make 50,000 calls through the server while things go wrong; SOAK_CALLS=N makes N
	$(BIN)/python scripts/soak.py --calls $(SOAK_CALLS)

lock: $(INSTALLED_TOOLS) ## write locks/ for what pyproject.toml requires now; LOCK_FLAGS=--upgrade takes newest versions
	$(TOOLS)/bin/python scripts/lock.py write $(LOCK_FLAGS)

sbom: $(INSTALLED_TOOLS) ## list the components of an installation in dist/, as CycloneDX JSON
	$(TOOLS)/bin/uv --quiet venv --clear dist/components
	$(TOOLS)/bin/uv --quiet pip install --python dist/components --require-hashes --requirement locks/all.txt
	$(TOOLS)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
		--output-file dist/droidgate-$(VERSION).cdx.json dist/components
	rm -r dist/components

audit: $(INSTALLED_TOOLS) ## look for known vulnerabilities of all locked packages
	$(TOOLS)/bin/pip-audit --strict --disable-pip --no-deps --progress-spinner off $(addprefix --requirement ,$(wildcard locks/*.txt))

$(INSTALLED): pyproject.toml scripts/make_environment scripts/lock.py locks/run.txt
	@scripts/make_environment "$(PYTHON)" "$(ENVIRONMENT)" '.[serve]' locks/run.txt
	@touch $@

$(INSTALLED_DEV): pyproject.toml scripts/make_environment scripts/lock.py locks/run.txt locks/dev.txt
	@scripts/make_environment "$(PYTHON)" "$(ENVIRONMENT)" '.[dev]' locks/dev.txt
	@touch $(INSTALLED) $@

# Not remade when pyproject.toml changes: these tools write the lock that would follow it.
$(INSTALLED_TOOLS): | locks/tools.txt
	@scripts/make_environment "$(PYTHON)" "$(TOOLS)" - locks/tools.txt
	@touch $@
