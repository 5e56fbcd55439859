"""Plan: a typed suite and a lock in, a plan out. Reads nothing, starts nothing, and gives the same plan anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mcpeval_dsl import __version__
from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.plan import graph
from mcpeval_dsl.plan.ceilings import Load, ceilings, judge_models
from mcpeval_dsl.plan.consistency import MOST_TRIALS
from mcpeval_dsl.plan.contents import Contents
from mcpeval_dsl.plan.drafts import Draft, Drafting, Outline
from mcpeval_dsl.plan.fixtures import Fixtures
from mcpeval_dsl.plan.harvests import Harvests, declared
from mcpeval_dsl.plan.instances import Instance
from mcpeval_dsl.plan.keys import digest
from mcpeval_dsl.plan.model import (
    Ceilings,
    CheckNode,
    ConnectNode,
    Counts,
    FileDigest,
    HarvestNode,
    Lock,
    Node,
    Plan,
    PlanWarning,
    Selection,
    Suite,
    TrialGroup,
)
from mcpeval_dsl.plan.parameters import in_cell
from mcpeval_dsl.plan.prices import free, per_token, priced
from mcpeval_dsl.plan.select import Selector, wants_heldout
from mcpeval_dsl.plan.splits import assign
from mcpeval_dsl.plan.topology import Topology
from mcpeval_dsl.semantics.graders import Calibration
from mcpeval_dsl.semantics.model import Host, Model, Task, TypedSuite


def build(
    suite: TypedSuite,
    lock: Lock | None = None,
    digests: Mapping[str, str] | None = None,
    selection: Selection | None = None,
    warnings: tuple[Diagnostic, ...] = (),
    several: bool = False,
) -> Checked[Plan]:
    """The plan of one suite.

    `digests` are SHA-256 by path for `suite.files` and `suite.fixtures` (a directory's is `keys.tree_digest`); a path
    without one is left out of the plan. `warnings` of earlier stages travel in the plan. With `several` suites a name
    that this one does not know is a note only, since another may. No value comes with at least one error.
    """
    selection = selection if selection is not None else Selection()
    suite = replace(suite, tasks=assign(suite), models=tuple(priced(m) for m in suite.models))
    if not suite.tasks and not suite.checks:
        return Checked(None, (_without_tasks(suite),))
    if (large := _too_large(suite)) is not None:
        return Checked(None, (large,))
    topology = Topology(suite, _of_suite(lock, suite), digests or {})
    cycle = _cycle(topology)
    if cycle is not None:
        return Checked(None, (cycle,))
    harvests = Harvests(topology)
    contents = Contents(topology, harvests, Fixtures.of(suite, topology.digests))
    outline = Drafting(topology, harvests, contents).draft(suite.tasks)
    selector = Selector(outline, severity="note" if several else "error")
    chosen, left_out = _without_heldout(outline, selector.choose(selection), selection)
    found = (*outline.diagnostics, *selector.diagnostics)
    if any(d.severity == "error" for d in found):
        return Checked(None, found)
    if not chosen:
        return Checked(None, (*found, _nothing(suite, selection, left_out)))
    ids = outline.closure(chosen)
    drafts = [draft for draft in outline if draft.id in ids]
    nodes = Nodes(contents).make(drafts)
    plan = _plan(harvests, drafts, nodes, selection, len(left_out))
    priceless = _unknown_prices(topology, drafts)
    plan = plan.model_copy(update={"warnings": _warnings((*warnings, *priceless))})
    return Checked(plan.model_copy(update={"key": digest(_keyed(plan))}), (*found, *priceless))


class Nodes:
    """Drafts to nodes with keys, in the order given: what is needed comes first."""

    def __init__(self, contents: Contents) -> None:
        self.contents = contents
        self.keys: dict[str, str] = {}

    def make(self, drafts: list[Draft]) -> tuple[Node, ...]:
        return tuple(self._node(draft) for draft in drafts)

    def _node(self, draft: Draft) -> Node:
        needs = sorted(self.keys[n] for n in draft.needs)
        node: Node
        if draft.kind == "connect":
            node = ConnectNode(id=draft.id, server=draft.name, key=self.contents.connect(draft.name))
        elif draft.kind == "check":
            key = self.contents.check(draft.name, needs)
            node = CheckNode(id=draft.id, server=draft.name, key=key, needs=draft.needs)
        elif draft.kind == "harvest":
            node = self._harvest(draft, needs)
        else:
            node = self._trial(draft, needs)
        self.keys[node.id] = node.key
        return node

    def _harvest(self, draft: Draft, needs: list[str]) -> HarvestNode:
        assert draft.place is not None and draft.cell is not None
        known = self.contents.harvests.known[draft.name]
        return HarvestNode(
            id=draft.id,
            harvest=draft.name,
            task=known.owner.name if known.owner is not None else None,
            row=draft.place.row,
            cell=draft.place.cell.id if draft.place.cell is not None else None,
            key=self.contents.harvest(draft.name, draft.instance, draft.cell, needs),
            needs=draft.needs,
        )

    def _trial(self, draft: Draft, needs: list[str]) -> TrialGroup:
        assert draft.instance is not None and draft.cell is not None
        instance: Instance = draft.instance
        return TrialGroup(
            id=draft.id,
            task=draft.name,
            row=instance.row,
            row_key=instance.row_key,
            row_value=instance.row_value,
            cell=draft.cell.id,
            trials=instance.task.trials,
            key=self.contents.trial(instance, draft.cell, draft.servers, needs),
            grade_key=self.contents.grade(instance.task),
            needs=draft.needs,
        )


def _too_large(suite: TypedSuite) -> Diagnostic | None:
    """An error where the product of trials, rows and cells is beyond what one run can hold; before any node is made."""
    trials = sum(task.trials * _rows(task) for task in suite.tasks) * max(1, len(suite.cells))
    if trials <= MOST_TRIALS:
        return None
    return Diagnostic(
        code="MCPE232",
        title=f"suite `{suite.name}` has {trials:,} trials",
        body=f"One plan has at most {MOST_TRIALS:,}: the product of trials, rows and cells, summed over the tasks.",
        hint="lower `trials`, a `limit` or an axis of the matrix, or split the suite",
    )


def _rows(task: Task) -> int:
    loop = task.loop
    if loop is None:
        return 1
    known = loop.limit or 1
    return known if loop.rows is None else min(len(loop.rows), loop.limit or len(loop.rows))


def _of_suite(lock: Lock | None, suite: TypedSuite) -> Lock | None:
    """The part of a folder's lock that is about this suite's servers."""
    names = {server.name for server in suite.servers}
    return lock and Lock(servers=tuple(s for s in lock.servers if s.server in names))


def _plan(
    harvests: Harvests, drafts: list[Draft], nodes: tuple[Node, ...], selection: Selection, left_out: int
) -> Plan:
    topology, suite = harvests.topology, harvests.topology.suite
    tasks = {d.name for d in drafts if d.kind == "trial"}
    read = {d.name for d in drafts if d.kind == "harvest"}
    kept = tuple(t for t in suite.tasks if t.name in tasks or any(h.id in read for h in t.harvests))
    inside = {h for t in kept for h in harvests.read_by_trial(harvests.of_task(t))[1]}
    inside |= {h for c in suite.checks for h in harvests.read_by_trial(c.uses)[1]}
    seconds, bounds = _bounds(topology, drafts)
    return Plan(
        harness=__version__,
        suite=Suite(
            name=suite.name,
            title=suite.title,
            spec=suite.path,
            seed=suite.seed,
            judge=suite.judge,
            gate=suite.gate,
            weights=suite.weights,
            comparisons=suite.comparisons,
        ),
        files=_digests(suite.files, topology.digests),
        fixtures=_digests(suite.fixtures, topology.digests),
        lock=topology.lock,
        servers=suite.servers,
        catalogues=suite.catalogues,
        environments=suite.environments,
        models=suite.models,
        hosts=suite.hosts,
        arms=suite.arms,
        lets=suite.lets,
        harvests=tuple(h for h in suite.harvests if h.id in read or h.id in inside),
        tasks=kept,
        cells=suite.cells,
        checks=suite.checks,
        nodes=nodes,
        counts=_counts(drafts, left_out),
        critical_path=graph.critical_path(nodes, seconds),
        ceilings=bounds,
        selection=selection,
        calibrations=_of_judges(suite, kept),
        unsupported=(*suite.unsupported, *(u for t in kept for u in t.unsupported)),
        key="",
    )


def _of_judges(suite: TypedSuite, tasks: tuple[Task, ...]) -> tuple[Calibration, ...]:
    """The calibration sets of the judges that these tasks ask: nobody else is measured, or paid for."""
    asked = {name for task in tasks for name in judge_models(task)}
    return tuple(calibration for calibration in suite.calibrations if calibration.judge in asked)


def _bounds(topology: Topology, drafts: list[Draft]) -> tuple[dict[str, float], Ceilings]:
    """Seconds known by node id, and the ceilings of all trials."""
    loads: list[Load] = []
    seconds: dict[str, float] = {}
    for draft in drafts:
        if draft.kind == "trial" and draft.instance is not None and draft.cell is not None:
            task = in_cell(draft.instance.task, draft.cell)
            model = topology.models.get(draft.cell.model) or Model(draft.cell.model, "litellm", draft.cell.model)
            host = topology.hosts.get(draft.cell.host) or Host(draft.cell.host)
            servers = tuple(topology.servers[s] for s in draft.servers)
            loads.append(Load(task, model, host, servers, task.trials))
            seconds[draft.id] = task.budget.time.hard or 0.0
        elif draft.kind == "harvest":
            seconds[draft.id] = max((topology.servers[s].timeout for s in draft.servers), default=0.0)
    return seconds, ceilings(loads, topology.models)


def _counts(drafts: list[Draft], left_out: int) -> Counts:
    groups = [d for d in drafts if d.kind == "trial" and d.instance is not None and d.cell is not None]
    return Counts(
        tasks=len({d.name for d in groups}),
        instances=len({d.instance.name for d in groups if d.instance is not None}),
        cells=len({d.cell.id for d in groups if d.cell is not None}),
        trials=sum(d.instance.task.trials for d in groups if d.instance is not None),
        harvests=sum(d.kind == "harvest" for d in drafts),
        connects=sum(d.kind == "connect" for d in drafts),
        checks=sum(d.kind == "check" for d in drafts),
        heldout_left_out=left_out,
    )


def _digests(paths: tuple[str, ...], digests: Mapping[str, str]) -> tuple[FileDigest, ...]:
    return tuple(FileDigest(path=p, sha256=digests[p]) for p in sorted(set(paths)) if p in digests)


def _without_heldout(outline: Outline, chosen: set[str], selection: Selection) -> tuple[set[str], set[str]]:
    """(chosen without held-out trials, names of the tasks left out), unless they were asked for."""
    if wants_heldout(selection):
        return chosen, set()
    held = {i for i in chosen if i in outline.trials and _task(outline.trials[i]).split == "heldout"}
    return chosen - held, {outline.trials[i].name for i in held}


def _task(draft: Draft) -> Task:
    assert draft.instance is not None
    return draft.instance.task


def _cycle(topology: Topology) -> Diagnostic | None:
    """Guard for what the checker reports first: waits among harvests, also through environments."""
    known = {name: harvest for name, (harvest, _) in declared(topology).items()}
    edges = Harvests.waits(topology)
    return graph.cycle_of_harvests(edges, known)


def _unknown_prices(topology: Topology, drafts: list[Draft]) -> tuple[Diagnostic, ...]:
    used = {d.cell.model for d in drafts if d.kind == "trial" and d.cell is not None}
    judges = {name for d in drafts if d.kind == "trial" for name in judge_models(_task(d))}
    return tuple(
        Diagnostic(
            code="MCPE580",
            title=f"the price of model `{m.name}` ({m.target}) is unknown, so the cost has no ceiling",
            at=m.at,
            body="An unknown price is not free: its trials are counted without a cost.",
            hint=f"add `price input $3, output $15 per 1M` to model `{m.name}`",
            severity="warning",
        )
        for m in topology.suite.models
        if m.name in used | judges and not free(m) and per_token(m) is None
    )


def _warnings(found: tuple[Diagnostic, ...]) -> tuple[PlanWarning, ...]:
    return tuple(PlanWarning(code=d.code, title=d.title, at=d.at) for d in found if d.severity == "warning")


def _keyed(plan: Plan) -> dict[str, object]:
    """What the plan's own key covers: everything that is run or decided by it."""
    left_out = {"key", "warnings", "files", "critical_path", "counts", "ceilings"}
    return {name: getattr(plan, name) for name in Plan.model_fields if name not in left_out}


def _without_tasks(suite: TypedSuite) -> Diagnostic:
    return Diagnostic(
        code="MCPE579",
        title=f"suite `{suite.name}` has no task, so there is nothing to run",
        at=suite.at,
        body="A suite needs at least one task: an empty run would look like a pass.",
        hint='add `task first { prompt "…"; grade contains "…" }`',
    )


def _nothing(suite: TypedSuite, selection: Selection, held: set[str]) -> Diagnostic:
    if held:
        names = ", ".join(sorted(held)[:5])
        hint = f"add `--heldout`: {names} {'is' if len(held) == 1 else 'are'} held out"
    elif selection.select or selection.exclude:
        hint = "take away one of the options; `mcpe graph` lists what there is to select"
    else:
        hint = "give the suite a matrix cell that is not excluded"
    return Diagnostic(
        code="MCPE570",
        title=f"nothing of suite `{suite.name}` is selected",
        at=None if selection.select or selection.exclude else suite.at,
        body="A run of nothing would look like a pass, so an empty selection is an error.",
        hint=hint,
    )
