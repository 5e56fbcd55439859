"""The order of a run: connect, look at the models, harvest, then trials within their limits; everything saved as it ends.

A trial that was finished before (by its content key) is not run again, unless infrastructure spoilt it.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcpeval_dsl.execute import events, folders
from mcpeval_dsl.execute.blocking import servers_to_be_healthy
from mcpeval_dsl.execute.check_nodes import check_node
from mcpeval_dsl.execute.context import RunContext
from mcpeval_dsl.execute.interrupts import StopRequest
from mcpeval_dsl.execute.nodes import connect, harvest_node, look_at_models
from mcpeval_dsl.execute.shared import end_shared
from mcpeval_dsl.execute.spending import Purse
from mcpeval_dsl.execute.trial import run_trial
from mcpeval_dsl.plan.model import CheckNode, ConnectNode, HarvestNode, TrialGroup, trial_id, trial_key
from mcpeval_dsl.records.model import ConnectRecord, TokenUse, TrialRecord
from mcpeval_dsl.records.store import RunStore

QUIET_SECONDS = 15.0
BUSY = ("model_api:429", "model_api:529", "model_api:preflight")
"""Causes that say nothing about whether the API is there: it answered, or it was not asked."""

Finish = Callable[[TrialRecord, Path | None], Awaitable[TrialRecord]]
OnEvent = Callable[[events.RunEvent], None]


@dataclass(frozen=True, slots=True)
class Due:
    """One trial to be run. `again`: infrastructure spoilt an earlier one."""

    group: TrialGroup
    number: int
    again: bool = False

    @property
    def id(self) -> str:
        return trial_id(self.group.id, self.number)

    @property
    def key(self) -> str:
        return trial_key(self.group.key, self.number)


@dataclass(slots=True)
class RunSummary:
    """`interrupted`: something is left to do because somebody stopped the run. `drift`: it stopped before any trial.

    `checks_left` are servers whose checks are still to be carried out; `closed` says why money let no further trial begin.
    """

    planned: int = 0
    due: int = 0
    done: int = 0
    interrupted: bool = False
    drift: tuple[ConnectRecord, ...] = ()
    checks_left: int = 0
    closed: str = ""
    models: dict[str, str] = field(default_factory=dict)


class Scheduler:
    """Runs one plan into one store. `finish` grades a record; `on_event` is told what happens."""

    def __init__(
        self, context: RunContext, store: RunStore, finish: Finish, on_event: OnEvent, stop: StopRequest
    ) -> None:
        self._context = context
        self._store = store
        self._finish = finish
        self._tell = on_event
        self._stop = stop
        self._running: set[asyncio.Task[None]] = set()
        self._summary = RunSummary()
        self._looking = asyncio.Lock()
        self._before = False
        self._purse = Purse(context.settings.max_cost)

    async def run(self) -> RunSummary:
        """Everything that is due. Raises StoreError when the disk fails; nothing saved is lost."""
        await self._grade_what_was_not()
        self._pay_for_what_is_there()
        due = list(self._due())
        checks = self._checks_due()
        self._summary.due, self._summary.checks_left = len(due), len(checks)
        if due:
            self._remove_leftovers({item.id for item in due})
        plan = self._context.plan
        self._tell(events.Started(plan.suite.name, self._summary.planned, len(due), str(self._context.run_folder)))
        self._stop.on_change = lambda how: self._tell(
            events.Stopping("now" if how == "now" else "drain", len(self._running), self._before)
        )
        try:
            if due or checks:
                self._before = True
                await self._unless_now(self._before_trials(due, checks))
                self._before = False
            if due and not self._summary.drift and not self._stop.asked:
                await self._trials(due)
        finally:
            for problem in await end_shared(self._context):
                self._tell(events.Problem(problem))
        left = self._summary.done < self._summary.due or self._summary.checks_left > 0
        self._summary.interrupted = self._stop.asked and left
        return self._summary

    async def _unless_now(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it, unless somebody wants the run to stop now; what was done until then is saved."""
        doing, now = asyncio.create_task(work), asyncio.create_task(self._stop.now.wait())
        try:
            await asyncio.wait({doing, now}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            now.cancel()
            if not doing.done():
                doing.cancel()
            await asyncio.gather(doing, return_exceptions=True)
        if not doing.cancelled():
            doing.result()

    async def _grade_what_was_not(self) -> None:
        """A run that was killed between a trial and its grading left facts without a verdict, and the trial's folder."""
        ungraded = (record for record in self._store.reader.records() if record.outcome is None)
        waiting = [record for record in ungraded if not record.not_applicable]
        if waiting:
            # What the harvests' calls showed decides leads; what is due below reads its own again where it must.
            self._context.harvests.update({record.id: record for record in self._store.reader.harvests()})
        for record in waiting:
            left = folders.place(self._context.run_folder, record.id)
            graded = await self._finish(record, left.work if left.work.is_dir() else None)
            folders.remove(left.root)
            await asyncio.wrap_future(
                self._store.save_grading(
                    record.key, graded.verdicts, graded.outcome, graded.leads, graded.grade_key, graded.arguments
                )
            )
        self._context.harvests.clear()

    def _pay_for_what_is_there(self) -> None:
        """A limit is one for the whole run, however often it was continued."""
        if self._purse.limit is None:
            return
        reader = self._store.reader
        for record in itertools.chain(reader.records(), reader.superseded()):
            self._purse.pay(record)
        self._purse.pay_judges(judgement.cost_usd for judgement in reader.judgements())

    def _remove_leftovers(self, due: set[str]) -> None:
        """A trial that was killed between its grading and its end left its folder."""
        if self._context.settings.keep_folders:
            return
        for trial in self._store.reader.planned():
            if trial not in due:
                folders.remove(folders.place(self._context.run_folder, trial).root)

    def _due(self) -> Iterator[Due]:
        reader = self._store.reader
        completed = reader.completed_keys()
        spoilt = (
            {record.key for record in reader.records() if record.outcome is not None and record.outcome.re_run}
            if completed
            else set()
        )
        for node in self._context.plan.nodes:
            if not isinstance(node, TrialGroup):
                continue
            for number in range(1, node.trials + 1):
                self._summary.planned += 1
                item = Due(node, number)
                if item.key not in completed:
                    yield item
                elif item.key in spoilt:
                    yield Due(node, number, again=True)

    def _checks_due(self) -> list[CheckNode]:
        """Checks that are not on record; those of which a line could not be tested are carried out again."""
        done = {
            record.key
            for record in self._store.reader.checks()
            if all(line.state != "not tested" for line in record.lines)
        }
        return [node for node in self._context.plan.nodes if isinstance(node, CheckNode) and node.key not in done]

    async def _before_trials(self, due: list[Due], checks: list[CheckNode]) -> None:
        needed = self._needed(due, checks)
        context = self._context
        connects = [node for node in context.plan.nodes if isinstance(node, ConnectNode) and node.id in needed]
        await _together(self._connect(node) for node in connects)
        if self._summary.drift or self._stop.asked:
            return
        self._summary.models = await look_at_models(context, {item.group.cell for item in due}) if due else {}
        for model, problem in self._summary.models.items():
            self._tell(events.ModelChecked(model, not problem, problem))
        await self._harvests(
            [node for node in context.plan.nodes if isinstance(node, HarvestNode) and node.id in needed]
        )
        limit = asyncio.Semaphore(context.settings.jobs)
        await _together(self._check(node, limit) for node in checks)

    def _needed(self, due: list[Due], checks: list[CheckNode]) -> set[str]:
        nodes = {node.id: node for node in self._context.plan.nodes}
        found: set[str] = set()
        groups = {item.group.id: item.group for item in due}.values()
        todo = [need for group in groups for need in group.needs] + [need for check in checks for need in check.needs]
        for task, cell in {(group.task, group.cell): None for group in groups}:
            todo += servers_to_be_healthy(self._context, task, cell)
        while todo:
            name = todo.pop()
            if name not in found and name in nodes:
                found.add(name)
                todo.extend(nodes[name].needs)
        return found

    async def _connect(self, node: ConnectNode) -> None:
        record = await connect(self._context, node)
        self._context.connects[record.id] = record
        await asyncio.wrap_future(self._store.save_connect(record))
        if record.status == "drift":
            self._summary.drift = (*self._summary.drift, record)
        self._tell(events.Connected(record))

    async def _harvests(self, nodes: list[HarvestNode]) -> None:
        """In the graph's order, those that wait for nothing at the same time."""
        kept = {record.key: record for record in self._store.reader.harvests() if record.status == "ok"}
        waiting = {node.id: node for node in nodes}
        while waiting and not self._stop.asked:
            ready = [node for node in waiting.values() if not any(need in waiting for need in node.needs)]
            if not ready:
                raise RuntimeError("the plan's harvests wait for each other")
            for node in ready:
                del waiting[node.id]
            limit = asyncio.Semaphore(self._context.settings.jobs)

            for node in ready:
                if node.key in kept:
                    self._context.harvests[node.id] = kept[node.key]
                    self._tell(events.HarvestDone(kept[node.key]))
            await _together(self._harvest(node, limit) for node in ready if node.key not in kept)

    async def _harvest(self, node: HarvestNode, limit: asyncio.Semaphore) -> None:
        async with limit:
            if self._stop.asked:
                return
            record = await harvest_node(self._context, node)
            self._context.harvests[record.id] = record
            await asyncio.wrap_future(self._store.save_harvest(record))
            self._tell(events.HarvestDone(record))

    async def _check(self, node: CheckNode, limit: asyncio.Semaphore) -> None:
        async with limit:
            if self._stop.asked:
                return
            record = await check_node(self._context, node)
            await asyncio.wrap_future(self._store.save_check(record))
            self._summary.checks_left -= 1
            self._tell(events.CheckDone(record))

    async def _trials(self, due: list[Due]) -> None:
        queue = iter(due)
        watch = asyncio.create_task(self._stop.draining.wait())
        quiet = asyncio.create_task(self._say_when_quiet())
        try:
            for item in queue:
                while len(self._running) >= self._context.settings.jobs and not self._stop.asked:
                    await asyncio.wait({*self._running, watch}, return_when=asyncio.FIRST_COMPLETED)
                    self._reap()
                if self._stop.asked:
                    break
                self._summary.closed = self._purse.closed()
                if self._summary.closed:
                    self._tell(events.Problem(self._summary.closed))
                    break
                self._running.add(asyncio.create_task(self._one(item), name=item.id))
            await self._drain()
        finally:
            watch.cancel()
            quiet.cancel()
            for task in self._running:
                task.cancel()
            await asyncio.gather(*self._running, return_exceptions=True)

    async def _say_when_quiet(self) -> None:
        """Long silence looks like a hang: say what is waited for."""
        done, since = self._summary.done, time.monotonic()
        while True:
            await asyncio.sleep(QUIET_SECONDS)
            if self._summary.done != done:
                done, since = self._summary.done, time.monotonic()
            elif self._running:
                names = tuple(sorted(task.get_name() for task in self._running))
                self._tell(events.Waiting(time.monotonic() - since, names))

    async def _look_again(self, record: TrialRecord) -> None:
        """A model API that used up a trial's patience is asked once more; if it is gone, no other trial waits for it."""
        trouble = record.trouble
        if trouble is None or trouble.kind != "model_api" or trouble.chain[0] in BUSY:
            return
        model = record.agent.model
        async with self._looking:
            if not self._context.preflights.get(model):
                problem = (await look_at_models(self._context, {record.cell})).get(model, "")
                if problem:
                    self._tell(events.ModelChecked(model, False, problem))

    async def _drain(self) -> None:
        """Wait for what is in flight; a second wish to stop, or the end of the grace, cancels it."""
        now = asyncio.create_task(self._stop.now.wait())
        first = asyncio.create_task(self._stop.draining.wait())
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        while self._running:
            if self._stop.asked and deadline is None:
                deadline = loop.time() + self._context.settings.grace
            left = None if deadline is None else max(0.0, deadline - loop.time())
            watched = {now} if self._stop.asked else {now, first}
            await asyncio.wait({*self._running, *watched}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if self._stop.now.is_set() or (deadline is not None and loop.time() >= deadline):
                for task in self._running:
                    task.cancel()
                await asyncio.gather(*self._running, return_exceptions=True)
            self._reap()
        now.cancel()
        first.cancel()

    def _reap(self) -> None:
        for task in [task for task in self._running if task.done()]:
            self._running.discard(task)
            if not task.cancelled():
                task.result()

    async def _one(self, item: Due) -> None:
        attempt = await asyncio.wrap_future(self._store.begin_attempt(item.id, item.key))
        try:
            ended = await run_trial(self._context, item.group, item.number)
        except asyncio.CancelledError:
            self._store.end_attempt(attempt, TokenUse(), "cancelled")
            raise
        record = ended.record
        # Saved before it is graded: what was paid for is never lost to a grader. The folder stays until it is graded,
        # so that a run that is stopped here can grade it when it is continued.
        await asyncio.wrap_future(self._store.save_trial(record, attempt, supersede=item.again))
        graded = await self._finish(record, ended.workdir)
        await asyncio.wrap_future(
            self._store.save_grading(
                record.key, graded.verdicts, graded.outcome, graded.leads, graded.grade_key, graded.arguments
            )
        )
        ended.remove()
        self._purse.pay(graded)
        await self._look_again(record)
        self._summary.done += 1
        self._tell(events.TrialDone(graded, self._summary.done, self._summary.due))


async def _together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """All at the same time; when one fails, or we are cancelled, the others are ended before that goes on."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
