// What was measured, how, and of what: for whoever has to judge the numbers.
const ESTIMANDS = [
  ["Success", "the mean over tasks of the share of their testable trials that passed without a critical violation; each task weighs the same."],
  ["Estimand", "the rate of tasks like these, of this agent, on these servers: tasks are taken as sampled. With one task it is about the trials of that task, and the interval says so."],
  ["Interval", "95 %, Wilson at the effective sample size with Student's t at C − 1 (C clusters of tasks); with a single task Clopper–Pearson over its trials."],
  ["Denominator", "testable trials. What could not be tested is in no denominator; beside each rate stand its bounds, if all that is missing had failed or passed."],
  ["pass^k and pass@k", "that k trials of a task all pass, or at least one: unbiased per task, then the mean over tasks with at least k testable trials."],
  ["Comparisons", "paired by task; MOVER interval; two-sided sign-flip test over clusters; Holm for what the gate asks, Benjamini–Hochberg for the rest."],
  ["Safety", "every trial with a turn of the model counts, also one that was run again. None seen is not none: the upper bound is printed."],
  ["Times", "the agent's own: waits for limits, queues and starts are left out."],
];

function methodView(card) {
  const d = DATA.current.definitions;
  return [
    h("header.hero.plain", h("p.eyebrow", `run ${DATA.current.run}`), h("h1", "Method"), h("p.lead", "What was evaluated, and what the numbers mean.")),
    section("estimand", "Estimand and intervals", null, h("dl.method", ESTIMANDS.map(([name, text]) => h("div", h("dt", name), h("dd", text))))),
    section("counts", "Trials", null, countsTable(card)),
    section("agents", "Agents", null, agentTables(d)),
    section("servers", "Servers", null, serverTables(card, d)),
    section("tasks", "Tasks", `${plural(d.tasks.length, "task")}, as the spec defines them.`, some(d.tasks, taskDefinition, 30)),
    section("made", "Made with", null, madeWith(card, d)),
  ];
}

function countsTable(card) {
  const rows = card.cells.map((cell) => {
    const c = cell.counts;
    return [cellName(cell, card.cells), number(c.planned), number(c.planned - c.not_run - c.untestable - (c.repeats || 0)), number(c.untestable), number(c.not_run), number(c.repeats || 0), cell.success ? number(cell.success.tasks) : "0", cell.success ? number(cell.success.clusters) : "0", cell.success ? cell.success.method : "–"];
  });
  return table(["cell", "planned", "testable", "untestable", "not run", "played back", "tasks", "clusters", "interval"], rows, { right: [1, 2, 3, 4, 5, 6, 7], label: "Trials of each cell" });
}

function agentTables(d) {
  const price = (each) => (each.price && !missing(each.price[0]) ? `${money(each.price[0] * 1e6)} in, ${money((each.price[1] || 0) * 1e6)} out per million` : "unknown");
  const arms = d.arms.length ? table(["arm", "servers", "native programs", "HTTP API"], d.arms.map((arm) => [arm.name, arm.servers.join(", ") || "none", arm.shell.join(", ") || "none", arm.api || "none"]), { label: "Arms" }) : null;
  return [
    table(["model", "driver", "asked for", "temperature", "price of tokens"], d.models.map((m) => [m.name, m.driver, m.target, missing(m.temperature) ? "the provider's" : String(m.temperature), price(m)]), { label: "Models" }),
    d.hosts.length ? table(["host", "agent", "server's instructions", "limit of a result", "turns"], d.hosts.map((x) => [x.name, x.agent, x.instructions, x.limit ? size(x.limit) : "none", number(x.turns)]), { right: [4], label: "Hosts" }) : null,
    arms,
  ];
}

function serverTables(card, d) {
  const locked = new Map(d.locked.map((each) => [each.server, each]));
  const rows = d.servers.map((server) => {
    const lock = locked.get(server.name);
    return [server.name, server.version || "–", lock && lock.version ? lock.version : "–", lock ? lock.revision : server.protocols.join(", ") || "–", server.transport, lock ? number(lock.tools) : "–"];
  });
  return table(["server", "version in the spec", "version in the lock", "protocol", "transport", "tools"], rows, { right: [5], label: "Servers" });
}

const LIMITED = { cost: money, time: (seconds) => duration(seconds * 1000) };

/** A limit is a number, or the name of the axis whose values it takes. */
function limitsOf(limits) {
  const axes = DATA.current.definitions.axes;
  const say = (name, value) => {
    const show = LIMITED[name] || number;
    if (typeof value !== "string") return show(value);
    const values = (axes[value] || []).map((each) => (Number.isFinite(Number(each)) ? show(Number(each)) : each));
    return `axis ${value} (${values.join(", ")})`;
  };
  return Object.entries(limits).map(([name, [soft, hard]]) =>
    [missing(soft) ? name : `${name} ≤ ${say(name, soft)}`, missing(hard) ? "" : `stopped at ${say(name, hard)}`].filter(Boolean).join(", ")
  );
}

function taskDefinition(task) {
  const facts = [
    task.kind && task.kind.replaceAll("_", " "),
    task.split,
    task.purpose,
    plural(task.trials, "trial"),
    task.limits.calls ? null : "no call budget",
    ...limitsOf(task.limits),
    ...limitsOf(task.limits_per_turn).map((text) => `${text} per turn`),
    ...task.tags,
  ];
  return h(
    "details.card.task",
    h("summary", h("strong", task.name), h("span.grow", task.title), h("small", facts.filter(Boolean).join(" · "))),
    task.prompt ? h("blockquote", task.prompt) : null,
    task.text ? h("pre.quote", task.text) : h("ul", task.graders.map((text) => h("li", h("code", text)))),
    h("p.place", task.at)
  );
}

function madeWith(card, d) {
  const { made_with: made, selection } = d;
  const chosen = [...selection.select.map((x) => `--select ${x}`), ...selection.exclude.map((x) => `--exclude ${x}`), selection.heldout ? "--heldout" : ""].filter(Boolean);
  const pairs = [
    ["mcpe", card.harness],
    ["plan", card.plan_key],
    ["seed", String(d.seed)],
    ["judge", d.judge || "none"],
    ["selection", chosen.join(" ") || "everything"],
    ["held-out tasks left out", d.heldout_left_out ? number(d.heldout_left_out) : ""],
    ["sandbox", card.sandbox.join("; ") || "none"],
    ["Python", made.python || ""],
    ["packages", Object.entries(made.packages || {}).map(([name, version]) => `${name} ${version}`).join(", ")],
    ["artefacts", Object.entries(made.servers || {}).map(([name, digest]) => `${name} ${digest}`).join(", ")],
    ["files", d.files.map((file) => `${file.path} ${file.sha256.slice(0, 12)}`).join(", ")],
  ];
  return h("dl.method", pairs.filter(([, value]) => value).map(([name, value]) => h("div", h("dt", name), h("dd", value))));
}
