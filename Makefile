# Everything sets itself up: `make demo` shows a real evaluation, `make test` runs all tests against real servers.
PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
SERVERS := .servers
DEMO    := specs/tracker/tracker.mcpe

.PHONY: demo test lint types unit servers bench docs clean

$(BIN)/mcpe: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

# The demo suite is expected to end with a failed gate (exit code 1): one of its agents is careless on purpose.
demo: $(BIN)/mcpe
	@$(BIN)/mcpe trust $(DEMO) --write .mcpe/demo-trust.json >/dev/null
	@$(BIN)/mcpe compile $(DEMO) -o .mcpe/demo-plan.json
	@$(BIN)/mcpe run .mcpe/demo-plan.json --fresh --trust-file .mcpe/demo-trust.json; code=$$?; \
	 if [ $$code -eq 1 ]; then echo; echo "demo: the gate failed, as it should (exit code 1)"; \
	 else echo "demo: expected exit code 1, got $$code"; exit 1; fi

# Real servers that the tests evaluate: npm and PyPI packages in places of their own.
servers: $(SERVERS)/ready

$(SERVERS)/ready: tests/servers/package.json tests/servers/package-lock.json tests/servers/requirements.txt
	PYTHON=$(PYTHON) sh tests/servers/install.sh $(SERVERS)
	@touch $@

lint: $(BIN)/mcpe
	$(BIN)/ruff check mcpeval_dsl tests specs benchmarks
	$(BIN)/ruff format --check mcpeval_dsl tests benchmarks

types: $(BIN)/mcpe
	$(BIN)/mypy

unit: $(BIN)/mcpe servers
	$(BIN)/python -m pytest -n 2

test: lint types unit

bench: $(BIN)/mcpe
	for script in benchmarks/*_bench.py; do $(BIN)/python $$script || exit 1; done

docs: $(BIN)/mcpe
	$(BIN)/python -m mcpeval_dsl.semantics.directives.reference

clean:
	rm -rf $(VENV) $(SERVERS) .mcpe build dist *.egg-info
