# Everything sets itself up: `make demo` shows a real evaluation, `make test` runs all tests against real servers.
PYTHON  ?= python3
VENV    := .venv
BIN     := $(VENV)/bin
SERVERS := .servers
DEMO    := specs/tracker/tracker.mcpe
CODE    := mcpeval_dsl tests specs benchmarks tools docs
PIP     := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint types unit servers bench docs schemas tables plots editors vsix code format clean

$(BIN)/mcpe: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mcpe needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[test]'
	@touch $@

# The demo suite is expected to end with a failed gate (exit code 1): one of its agents is careless on purpose.
demo: $(BIN)/mcpe
	@MCPE_SANDBOX=none $(BIN)/mcpe trust $(DEMO) --write .mcpe/demo-trust.json >/dev/null
	@$(BIN)/mcpe compile $(DEMO) -o .mcpe/demo-plan.json
	@$(BIN)/mcpe run .mcpe/demo-plan.json --fresh --trust-file .mcpe/demo-trust.json; code=$$?; \
	 if [ $$code -eq 1 ]; then echo; echo "demo: the gate failed, as it should (exit code 1)"; \
	 else echo "demo: expected exit code 1, got $$code"; exit 1; fi

# Real servers that the tests evaluate: npm and PyPI packages in places of their own.
servers: $(SERVERS)/ready

$(SERVERS)/ready: $(addprefix tests/servers/,install.sh package.json package-lock.json requirements.txt requirements-duckdb.txt)
	PYTHON=$(PYTHON) sh tests/servers/install.sh $(SERVERS)
	@touch $@

# The browser that the tests of the report's page drive, and what they bring into it.
$(SERVERS)/browser/ready: $(SERVERS)/ready $(addprefix tests/browser/,install.sh package.json package-lock.json) $(wildcard tools/plots/*)
	sh tests/browser/install.sh $(SERVERS)/browser
	@touch $@

# Neovim, the TextMate engine of VS Code and the packed extension, for the tests of the editors.
$(SERVERS)/editors/ready: $(SERVERS)/ready $(addprefix tests/editors/,install.sh package.json package-lock.json) \
		$(shell find editors/vscode -type f)
	sh tests/editors/install.sh $(SERVERS)/editors
	@touch $@

lint: $(BIN)/mcpe
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

types: $(BIN)/mcpe
	$(BIN)/mypy

unit: $(BIN)/mcpe $(SERVERS)/ready $(SERVERS)/browser/ready $(SERVERS)/editors/ready
	$(BIN)/python -m pytest -n 2

test: lint types unit

# Figures beside their limits; all are shown before a passed limit makes this fail.
bench: $(BIN)/mcpe
	@failed=0; for script in benchmarks/*_bench.py; do $(BIN)/python $$script || failed=1; done; exit $$failed

# What is generated: the reference manual, the published schemas, the parser's tables, the page's plotting library. Tests
# say when one is old.
docs: $(BIN)/mcpe
	$(BIN)/python docs/reference/generate.py

schemas: $(BIN)/mcpe
	$(BIN)/python -m mcpeval_dsl.plan.schema

plots:
	sh tools/plots/bundle.sh mcpeval_dsl/report/html/assets

tables: $(BIN)/mcpe
	$(BIN)/python tools/syntax_tables.py

# The colours of editors from the language's tables; the extension for VS Code: code --install-extension build/mcpe.vsix
editors: $(BIN)/mcpe
	$(BIN)/python tools/textmate.py

vsix: $(SERVERS)/ready
	PATH="$$PATH:$(CURDIR)/$(SERVERS)/bin:$(CURDIR)/$(SERVERS)/nodeenv/bin" sh editors/vscode/build.sh build/mcpe.vsix $(SERVERS)/editors/vscode

# A session in a real Visual Studio Code, to look at: 800 MB of packages, pictures in build/editors. No test needs it.
code: vsix $(SERVERS)/browser/ready $(BIN)/mcpe
	sh tests/editors/code/session.sh build/mcpe.vsix $(BIN)/mcpe $(SERVERS)/code

format: $(BIN)/mcpe
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

clean:
	rm -rf $(VENV) $(SERVERS) .mcpe build dist *.egg-info
