# Everything starts here: Python 3.11 or newer and make are enough. `make help` lists the targets.

PY = .venv/bin/python
export PYTHON
# Compiled modules are kept, whatever the environment says: the tests start thousands of processes.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: docs package help setup setup-dev run test screenshots screenshots-docs check fmt eval bench bench-queue bench-ingest bench-rotation bench-pipeline bench-hiring bench-pages chaos soak clean

help:  ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do \
		printf '  make %-14s %s\n' "$$name" "$$text"; done

setup:  ## Create .venv with what Jobmill needs to run
	@scripts/setup run

setup-dev:  ## Create .venv with what developers need
	@scripts/setup dev

run: setup  ## Set up and start Jobmill
	@$(PY) -m jobmill up

test: setup-dev  ## Run the tests; ARGS= adds options of pytest
	@scripts/browser get >/dev/null || [ -z "$$REQUIRE_BROWSER" ]
	@# On all cores: the collection uses one.
	@$(PY) -m compileall -q -j 0 jobmill
	@$(PY) -m pytest -m "not soak" --processes 5 -rs $(ARGS)

screenshots: setup-dev  ## Save screenshots of all pages in build/screenshots
	@scripts/browser get >/dev/null
	@JOBMILL_PICTURES=yes $(PY) -m pytest tests/browser/pictures.py tests/browser/test_journeys.py --processes 2 -rs $(ARGS)

screenshots-docs: setup-dev  ## Save screenshots of the twelve main screens in docs/screenshots
	@scripts/browser get >/dev/null
	@$(PY) -m pytest tests/browser/main_screens.py --processes 2 -rs $(ARGS)

check: setup-dev  ## Check format, lint, types and import rules
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m basedpyright jobmill
	@.venv/bin/lint-imports
	@$(PY) -m scripts.names
	@scripts/guards --list >/dev/null

fmt: setup-dev  ## Format the code and rewrite the generated pages
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .
	@$(PY) -m scripts.reference
	@$(PY) -m scripts.commands
	@$(PY) -m scripts.api
	@$(PY) -m scripts.client
	@$(PY) -m scripts.api_coverage
	@$(PY) -m scripts.texts

package: setup-dev  ## Build the source distribution and the wheel into dist
	@$(PY) -m scripts.package

docs: build/docs/.made  ## Build the documentation site into build/site; broken links fail
	@NO_MKDOCS_2_WARNING=1 build/docs/bin/mkdocs build --strict --quiet

build/docs/.made: requirements-docs.lock
	@$${PYTHON:-python3} -m venv build/docs
	@build/docs/bin/pip install -qq --no-deps --require-hashes -r requirements-docs.lock
	@touch $@

eval: setup-dev  ## Measure accuracy on real data; ARGS= selects parts
	@$(PY) -m evaluation.run $(ARGS)

bench: bench-queue bench-ingest bench-pipeline bench-rotation bench-hiring bench-pages  ## Run all benchmarks

bench-queue: setup-dev  ## Measure the queue; ARGS= adds options
	@$(PY) -m bench.queue.run $(ARGS)

bench-ingest: setup-dev  ## Measure how fast boards and pages are read; ARGS= adds options
	@$(PY) -m bench.ingest.run $(ARGS)

bench-pipeline: setup-dev  ## Measure how fast listings are judged; ARGS= adds options
	@$(PY) -m bench.pipeline.run $(ARGS)

bench-rotation: setup-dev  ## Measure what the rotation policies find and how fast; ARGS= adds options
	@$(PY) -m bench.rotation.run $(ARGS)
	@$(PY) -m bench.rotation.table

bench-hiring: setup-dev  ## Measure hiring over HTTP: concurrent applications, long waitlists, replay; ARGS= adds options
	@$(PY) -m bench.hiring.run $(ARGS)

bench-pages: setup-dev  ## Measure every page with a million listings; ARGS= adds options
	@$(PY) -m bench.pages.run $(ARGS)

chaos: setup-dev  ## Run ten minutes of faults against the queue; ARGS= adds options
	@$(PY) -m tests.faults.chaos $(ARGS)

soak: chaos  ## Run the chaos, the tests that take minutes, and the removal of every guard
	@$(PY) -m pytest -m soak --timeout=0
	@scripts/guards

clean:  ## Remove what the other targets made; your data stays
	@rm -rf .venv .venv-bench .ruff_cache .pytest_cache .hypothesis .import_linter_cache .grimp_cache build
	@rm -rf *.egg-info
	@find jobmill tests bench evaluation scripts -name __pycache__ -type d -prune -exec rm -rf {} +
