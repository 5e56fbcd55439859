"""Command line, the list: name -> module with a function `command`, and what `mcpe --help` says. Nothing is imported."""

from __future__ import annotations

from mcpeval_dsl.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    module: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "lint": Entry("lint", "Find mistakes in specs without starting anything."),
    "init": Entry("init", "Write a first suite for a server, or an example that runs as it is."),
    "fmt": Entry("fmt", "Write specs in their canonical form."),
    "compile": Entry("compile", "Compile specs into a plan, and say what a run would cost."),
    "graph": Entry("graph", "Show what depends on what: text, DOT or Mermaid."),
    "lock": Entry("lock", "Ask the servers for their tools and write mcpe.lock."),
    "check": Entry("check", "Carry out the checks of specs: a server and its protocol, without a model."),
    "selftest": Entry("selftest", "Try without a model whether tasks can be solved and graders tell right from wrong."),
    "run": Entry("run", "Run a plan, or continue it."),
    "score": Entry("score", "Grade and score a run again, without running it."),
    "compare": Entry("compare", "Say whether a run is worse than an earlier one."),
    "power": Entry("power", "Say how many tasks an effect needs, and which effect shows with so many."),
    "replay": Entry("replay", "Run one trial again from its record."),
    "defects": Entry("defects", "List suspicions that a server is wrong; replay them with --confirm."),
    "runs": Entry("runs", "List the runs of this project."),
    "report": Entry("report", "Write a run's scorecard as a page, Markdown, JUnit XML or for GitHub."),
    "view": Entry("view", "Show one trial: calls, answer, verdicts; or the run as a page."),
    "import": Entry("import_", "Make specs of evaluations of other tools, and of recorded sessions."),
    "trust": Entry("trust", "Allow the programs of a spec to be started."),
    "doctor": Entry("doctor", "Say what this machine offers, and what is wrong."),
    "gateway": Entry("gateway", "Be the MCP server of a host outside, for one trial."),
    "lsp": Entry("lsp", "Be the language server of an editor."),
    "explain": Entry("explain", "Say more about a diagnostic's code."),
}
