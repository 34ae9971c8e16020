# `make` alone lists the targets. Requires make, Python 3.11 or newer with venv, and a package index.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DISTRIBUTIONS := -e '.[doc,test]' -e client -e nova -e plugin-testing
PYPROJECTS := pyproject.toml client/pyproject.toml nova/pyproject.toml plugin-testing/pyproject.toml
PIP_FLAGS := -qq --no-input --disable-pip-version-check

# The first Python found that is new enough. To use another one: `make venv PYTHON=…`.
PYTHON ?= $(shell for each in python3.13 python3.12 python3.11 python3; do \
	$$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$each; break; }; done)

# The number of processes that run tests in parallel; 0 runs all tests in one process.
WORKERS ?= 2

# The number of labs that `make cloud` starts side by side. `make test-cloud` has a process for each of them.
LABS ?= 1
ONE_PROCESS_PER_LAB := $(if $(filter-out 1,$(LABS)),--numprocesses=$(LABS) --dist=load --maxschedchunk=1 --max-worker-restart=0)

# The folder of the manual pages that `make man` builds.
MAN ?= build/man

# A Python with Nova installed; the cloudlab's by default.
NOVA_PYTHON ?= var/cloud/venv/bin/python
PYTEST_FOR_NOVA := build/pytest-for-nova

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help console console-check venv demo serve test lint static doc screenshots man bench faults simulate recording day cluster upgrades race lock clean cloud cloud-down test-cloud

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

demo: $(STAMP) ## show leases start and end on a simulated cloud, in about a minute
	@$(BIN)/python examples/demo/demo.py

test: static ## check everything: types, style, imports, then all tests
	@$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=worksteal

test-nova: require-nova $(PYTEST_FOR_NOVA) ## test the scheduler filter inside Nova: make test-nova NOVA_PYTHON=…
	@PYTHONPATH=$(PYTEST_FOR_NOVA) $(NOVA_PYTHON) -m pytest nova/tests_in_nova

cloud: $(STAMP) ## start OpenStack with the service on this machine (cloudlab/README.md): make cloud HOSTS="…"
	@$(BIN)/python -m cloudlab up --labs $(LABS) $(if $(HOSTS),--hosts $(HOSTS))

cloud-down: $(STAMP) ## stop that OpenStack; with CLEAN=1, also remove its data
	@$(BIN)/python -m cloudlab $(if $(CLEAN),destroy,down)

test-cloud: $(STAMP) ## on it, run the end-to-end tests, the contract tests of the cloud ports and the tests inside Nova
	@$(BIN)/python -m pytest cloudlab/tests --ignore=cloudlab/tests/machinery --durations=25 $(ONE_PROCESS_PER_LAB)
	@BLAZAR_CLOUD_LAB=cloud.openstack_lab:openstack_lab $(BIN)/python -m pytest tests/cloud/contract $(ONE_PROCESS_PER_LAB)
	@$(MAKE) --no-print-directory test-nova NOVA_PYTHON=$(or $(CLOUDLAB_FOLDER),var/cloud)/venv/bin/python

serve: $(STAMP) ## run the whole service on this machine, until Ctrl-C
	@$(BIN)/blazar-standalone --state-dir var --examples --example-leases

lint: static ## run only the quick checks: types, style, imports, sizes, words
	@$(BIN)/python -m pytest --quiet tests/test_house_style.py tests/test_language.py

bench: $(STAMP) ## measure the service as processes, then searches, creates and a month of 1,000 hosts
	@mkdir -p build
	@$(BIN)/python -m bench.service --json build/bench.json --picture build/bench.svg
	@$(BIN)/python bench/search
	@$(BIN)/python bench/slots
	@$(BIN)/python bench/times
	@$(BIN)/python bench/groups
	@$(BIN)/python bench/refusals
	@$(BIN)/python bench/hosts
	@$(BIN)/python -m bench.managers
	@$(BIN)/python -m bench.scale
	@$(BIN)/python bench/maintenance
	@$(BIN)/python bench/planning
	@$(BIN)/python bench/usage
	@$(BIN)/python bench/month

bench-filter: require-nova ## measure the scheduler filter inside Nova: make bench-filter NOVA_PYTHON=…
	@$(NOVA_PYTHON) bench/filter

simulate: $(STAMP) ## simulate managers and faults, determined by a seed: make simulate SEEDS=1-1000, or SEED=7
	@PYTHONPATH=tests $(BIN)/python -m simulation $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),1-1000))

recording: $(STAMP) ## record the responses of API 1.0 again, for all stories in tests/recorded or for STORY=hosts
	@PYTHONPATH=tests $(BIN)/python -W ignore -m recorded $(STORY)

doc: $(STAMP) ## build the documentation into build/doc
	@$(BIN)/sphinx-build -q -W --keep-going -n doc build/doc && echo build/doc/index.html

# The page is built with the versions of console/package-lock.json. Nothing else here needs Node.
console/node_modules/.package-lock.json: console/package.json console/package-lock.json
	@npm --prefix console ci --silent
	@touch $@

console: console/node_modules/.package-lock.json ## build the page of /ui/ into src/blazar/ui/bundle (requires Node 20.19 or newer)
	@npm --prefix console --silent run build -- --logLevel warn
	@npm --prefix console --silent run size

console-check: console/node_modules/.package-lock.json ## test the page's sources, and that its committed bundle and types match them
	@npm --prefix console --silent run check
	@npm --prefix console --silent test -- --reporter=dot
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	TYPES_OUT="$$folder/schema.d.ts" npm --prefix console --silent run types >/dev/null 2>&1 && \
	diff -q console/src/api/schema.d.ts "$$folder/schema.d.ts" && \
	CONSOLE_OUT="$$folder/bundle" npm --prefix console --silent run build -- --logLevel warn && \
	diff -qr src/blazar/ui/bundle "$$folder/bundle" && \
	npm --prefix console --silent run size -- "$$folder/bundle"

screenshots: $(STAMP) ## take the pictures of the console in the documentation again (requires Chromium)
	@PYTHONPATH=tests $(BIN)/python -m browser.screenshots

man: $(STAMP) ## build the manual pages of all commands into build/man
	@PYTHONPATH=doc/extensions $(BIN)/sphinx-build -q -W -E -b man -C -D extensions=myst_parser,from_the_code,manual_pages \
	-D project=Blazar -d $(MAN)/.doctrees etc/man $(MAN) && ls $(MAN)/*.[18]

faults: $(STAMP) ## inject faults into the service's processes for ten minutes: make faults FAULTS="--seconds 3600 --seed 1"
	@PYTHONPATH=tests:. $(BIN)/python -W ignore -m faults $(FAULTS)

day: $(STAMP) ## run a day of a site with 2,000 hosts in half an hour, and check it: make day DAY="--hours 3 --seed 7"
	@PYTHONPATH=tests:. $(BIN)/python -W ignore -m bench.day --picture build/day.svg $(DAY)

cluster: $(STAMP) ## inject faults into clusters of Galera and RabbitMQ, and managers: make cluster FAULTS="--lessees 50"
	@PYTHONPATH=tests:. $(BIN)/python -W ignore -m faults --database galera --broker-nodes 3 \
	--only nothing manager-killed database-killed manager-paused database-node-paused database-node-cut-off \
	database-node-restarted database-node-replaced quorum-lost broker-node-killed broker-node-paused \
	broker-node-cut-off $(FAULTS)

upgrades: $(STAMP) ## upgrade from the previous release under load for ten minutes: make upgrades FAULTS="--seconds 3600"
	@PYTHONPATH=tests:. $(BIN)/python -W ignore -m faults.upgrade_runs $(FAULTS)

race: $(STAMP) ## let 8 processes compete for a small pool, 20,000 attempts per database
	@$(BIN)/python bench/race

static: $(STAMP)
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy src client nova plugin-testing tests bench examples cloudlab rig doc
	@MYPYPATH=bench $(BIN)/mypy --scripts-are-modules bench/console bench/filter bench/hostile bench/hosts bench/maintenance bench/month bench/offers bench/planning bench/processor bench/search bench/race bench/refusals bench/slots bench/times bench/groups bench/usage
	@$(BIN)/lint-imports --no-logo

lock: require-python ## resolve the versions of all dependencies again, into constraints.txt
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	$(PYTHON) -m venv "$$folder" && \
	"$$folder/bin/python" -m pip install $(PIP_FLAGS) 'setuptools>=77' && \
	"$$folder/bin/python" -m pip install $(PIP_FLAGS) --no-build-isolation $(DISTRIBUTIONS) && \
	"$$folder/bin/python" -m pip check && \
	{ echo '# The versions of all dependencies that make installs. Written by `make lock` (ADR-0010).'; \
	"$$folder/bin/python" -m pip freeze --all --exclude-editable --exclude pip; } > "$$folder/lock" && \
	cp "$$folder/lock" constraints.txt && echo "constraints.txt: $$(grep -c == constraints.txt) versions"

clean: ## remove the files that other targets made, except var/, the data of a service
	@rm -rf $(VENV) build client/build nova/build dashboard/build plugin-testing/build examples/plugin/build
	@rm -rf console/node_modules
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find . -path ./.git -prune -o \( -name __pycache__ -o -name '*.egg-info' \) -prune -exec rm -rf {} +

venv: $(STAMP)

$(BIN)/python: | require-python
	@$(PYTHON) -m venv --clear $(VENV)

$(STAMP): constraints.txt $(PYPROJECTS) | $(BIN)/python
	@echo 'Installing into $(VENV) (the first time this takes a minute or two) …'
	@$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt setuptools
	@$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt --no-build-isolation $(DISTRIBUTIONS)
	@touch $@

# In a folder next to Nova's environment, not in it.
$(PYTEST_FOR_NOVA): constraints.txt | $(STAMP)
	@rm -rf $@
	@$(BIN)/python -m pip install $(PIP_FLAGS) -c constraints.txt --target $@ pytest
	@touch $@

.PHONY: test-nova bench-filter require-nova
require-nova:
	@$(NOVA_PYTHON) -c 'import nova.version' 2>/dev/null || { echo '$(NOVA_PYTHON) has no Nova: name a Python that has: make NOVA_PYTHON=/path/to/python …' >&2; exit 1; }

.PHONY: require-python
require-python:
	@test -n "$(PYTHON)" || { echo 'No Python 3.11 or newer was found: install one, or name it: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo '$(PYTHON) is not a Python 3.11 or newer' >&2; exit 1; }
