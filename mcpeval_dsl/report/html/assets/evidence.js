// What was found: defects of servers with their two calls, violations, failures at their line, what could not be tested.
const SUSPICIONS = {
  "not_found of a vouched value": "not found, though the server itself named it",
  schema_mismatch: "refuses what its own schema allows",
  internal_error: "internal error on a call that fits its schema",
  invalid_result: "a result that breaks the protocol or its own schema",
  crash: "the server died",
  resource_limit: "the server died at a limit of ours",
  timeout: "no answer in time",
};
const STATUS = {
  "": ["unsure", "lead"],
  confirmed: ["bad", "confirmed"],
  flaky: ["unsure", "flaky"],
  eventual: ["unsure", "eventual"],
  not_reproduced: ["quiet", "not reproduced"],
  resource_limit: ["quiet", "ended by our limit"],
  unconfirmed: ["unsure", "unconfirmed"],
};
const SHOWN = 12;

/** The first of many, and a button for the rest. */
function some(list, draw, most = SHOWN) {
  if (list.length <= most) return list.map(draw);
  const place = h("div.stack");
  const more = h("button.more", { type: "button", on: { click: () => replace(place, list.map(draw)) } }, `All ${number(list.length)}`);
  return replace(place, list.slice(0, most).map(draw), more);
}

const runCommand = (verb, id) => command(`mcpe ${verb} ${DATA.current.run} ${id}`);

function defectsSection(card) {
  const note = card.leads.length ? "A lead was seen in a trial; a defect was shown again in fresh environments." : "No lead seen.";
  return section("defects", "Server defects", note, some(card.leads, lead));
}

function lead(each) {
  const [css, word] = STATUS[each.status] || STATUS[""];
  const replayed = each.counted ? `${each.failed} of ${plural(each.counted, "replay")} failed alike` : each.reason || (each.strength === "to_replay" ? "only a replay can tell" : "not replayed yet");
  const trial = each.first_trial.startsWith("harvest ") ? h("span", each.first_trial) : trialLink(each.first_trial);
  return h(
    "article.card",
    h("div.title", h(`span.tag.${css}`, word), h("h3", h("code", `${each.server}.${each.tool}`)), h("span.grow", SUSPICIONS[each.kind] || each.kind)),
    each.value ? h("p.note", h("code", `${each.argument || ""} = ${each.value}`)) : null,
    h("div.pair", each.evidence.map((call) => h("div.call", h("p.callhead", h("b", call.id), " ", h("code", call.tool), h("span.by", call.actor)), h("pre", { tabindex: "0" }, call.arguments), h("pre.result", { tabindex: "0" }, call.result)))),
    h("p.foot", plural(each.trials, "trial"), ", first in ", trial, " · ", replayed),
    each.reproduction ? command(`mcpe check ${each.reproduction}`) : null
  );
}

function safetySection(card) {
  const { safety } = card;
  const severity = (word) => h(`span.tag.${word === "critical" ? "bad" : word === "major" ? "unsure" : "quiet"}`, word);
  const stages = (row) => h("span.stages", row.stages.map((stage) => h(`span.stage.${stage}`, stage)));
  const rows = safety.violations.map((row) => [severity(row.severity), h("span", row.kind), h("code", name(row.tool)), stages(row), number(row.trials), trialLink(row.first_trial)]);
  const bound = safety.exposed_trials
    ? `${safety.trials_with_critical} of ${plural(safety.exposed_trials, "trial")} with a critical violation: with 95 % confidence up to ${percent(safety.at_most_by_trials)} of trials. By tasks ${safety.tasks_with_critical} of ${safety.exposed_tasks}: up to ${percent(safety.at_most_by_tasks)}.`
    : "No trial in which anything could have happened.";
  return section(
    "safety",
    "Safety",
    null,
    h("p.lead", verdictWord(safety.verdict), h("span", bound)),
    safety.injections ? h("p.note", `Planted instructions: ${safety.injections_resisted} of ${safety.injections} resisted (${percent(safety.injections_resisted / safety.injections)}).`) : null,
    safety.unconfined_trials ? h("p.note", `Writes outside of a trial's folder: not compared in ${plural(safety.unconfined_trials, "trial")} without a sandbox.`) : null,
    safety.unchecked_trials ? h("p.note", `In ${plural(safety.unchecked_trials, "trial")} a check could not run.`) : null,
    rows.length ? table(["severity", "violation", "tool", "stages", "trials", "first in"], rows, { right: [4], label: "Violations" }) : null,
    card.lowered.map((row) => h("p.note", `${row.calls}: ${row.severity} instead of ${row.usual}, ${row.because || "without a reason"} (${row.at})`))
  );
}

function checksSection(card) {
  const checks = card.checks || [];
  if (!checks.length) return null;
  const css = { pass: "good", fail: "bad" };
  const times = (check, line) => {
    const found = DATA.current.check_timings.find((each) => each.server === check.server && each.what === line.what && each.at === line.at);
    return found ? Object.entries(found.measured).map(([name, ms]) => `${name} ${ms.toPrecision(3)} ms`).join(", ") : "";
  };
  const rows = checks.flatMap((check) =>
    check.lines.length
      ? check.lines.map((line) => [
          h(`span.tag.${css[line.state] || "unsure"}`, line.state),
          check.server,
          h("code", line.what),
          line.state === "fail" ? `got ${times(check, line) || line.actual || "nothing"}, expected ${line.expected}` : line.reason || times(check, line),
          h("span.place", line.at),
        ])
      : [[h("span.tag.unsure", "not tested"), check.server, "", `${plural(check.planned, "line")} not carried out`, ""]]
  );
  const passed = checks.reduce((sum, check) => sum + check.lines.filter((line) => line.state === "pass").length, 0);
  const planned = checks.reduce((sum, check) => sum + check.planned, 0);
  return section("checks", "Checks", `${passed} of ${plural(planned, "line")} pass, without a model.`, table(["", "server", "checked", "", "line"], rows, { label: "Checks" }));
}

function failuresSection(card) {
  if (!card.failures.length) return null;
  return section("failures", "Failures", "One for each task, cell and reason, with the line of the spec that says no.", some(card.failures, failure));
}

function failure(row) {
  const quote = DATA.current.quotes[row.at];
  const kinds = [row.failure_kind, row.every_call_succeeded && row.outcome === "wrong_answer" ? "every call succeeded" : "", row.layer ? `layer: ${row.layer}` : ""];
  return h(
    "article.card.failure",
    h("div.title", chip(row.outcome), h("h3", row.instance), h("span.grow", row.cell), row.known_failure ? h("span.tag.quiet", "known failure") : null, h("span.count", plural(row.trials, "trial"))),
    row.at ? h("p.place", row.at) : null,
    quote ? h("pre.quote", quote) : null,
    h("dl.said", row.expected ? h("div", h("dt", "expected"), h("dd", row.expected)) : null, row.actual ? h("div", h("dt", "actual"), h("dd", row.actual)) : null),
    row.reason ? h("p.note", row.reason) : null,
    h("p.note", [...new Set(kinds.filter(Boolean))].join(" · ")),
    h("p.foot", trialLink(row.first_trial, "Open the transcript"), runCommand("replay", row.first_trial))
  );
}

function untestedSection(card) {
  if (!card.untestable.length) return null;
  const rows = card.untestable.map((row) => [
    h("span", row.because.map((cause) => DATA.current.causes[cause]).join(" → ")),
    number(row.trials),
    row.worth_a_rerun ? "the same mcpe run tries again" : row.infrastructure ? "infrastructure" : "",
    trialLink(row.first_trial),
  ]);
  return section("untested", "Not tested", "Counted neither for nor against the agent; first cause first.", table(["because", "trials", "", "first in"], rows, { right: [1], label: "Not tested" }));
}

/** The first trials that show a finding, with the calls to look at. */
function seenIn(row) {
  const first = row.evidence && row.evidence.length ? row.evidence.slice(0, 3) : [{ trial: row.first_trial, calls: [] }];
  return first.map((each, i) => [i ? ", " : "", trialLink(each.trial), each.calls.length ? [" (", each.calls.slice(0, 4).map((call, n) => [n ? ", " : "", callLink(each.trial, call)]), ")"] : ""]).concat(row.trials > first.length ? ", …" : []);
}

/** Kinds of findings as people say them; programs read the kind in the JSON. */
const KIND_OF_FINDING = {
  repeated_call: "the same call again",
  unchanged_retry: "a retry without a change",
  not_reached: "a required tool was not called",
  not_shown: "a required tool was not shown",
  confused_tools: "two tools confused",
  wrong_argument: "an argument filled in wrongly",
  cut_result: "a result over a limit",
  many_pages: "many pages for one fact",
  wrong_all_the_same: "all calls fine, the answer wrong",
  claimed_action: "claimed, not done",
  claimed_check: "claimed, not checked",
  gave_up: "gave up too early",
  error_in_success: "an error that is called a success",
  distracted: "a distractor called",
  shown_in_vain: "told of what is not there",
  graders_disagree: "graders disagree",
  unsteady_grader: "a grader that wavers",
  never_passed: "a task that nobody passes",
  saturated: "a task that everybody passes",
  identical_trials: "trials that are one",
  impossible_latency: "faster than a model",
  server: "of a server",
  noted: "noted in a trial",
};

function findingsSection(card) {
  const saturated = card.cells.filter((cell) => cell.saturated && cell.split === "train").map((cell) => ({ text: `${cell.cell}: every trial of every task passes: this suite tells nothing apart here any more`, trials: 0 }));
  const found = [...card.findings.filter((row) => row.strength !== "lead"), ...card.findings.filter((row) => row.strength === "lead")];
  const all = [...found, ...saturated];
  if (!all.length) return null;
  const item = (row) =>
    h(
      "li",
      h("span", row.strength ? h(`span.tag.${row.strength === "lead" ? "quiet" : "unsure"}`, row.strength) : null, " ", row.text),
      h("small", row.kind ? `${KIND_OF_FINDING[row.kind] || row.kind.replaceAll("_", " ")}${row.trials ? " · " : ""}` : null, row.trials ? [`${plural(row.trials, "trial")}: `, seenIn(row)] : null),
      row.change ? h("p.change", row.change) : null
    );
  return section("findings", "Findings", "Patterns over trials; they point at the suite as often as at the agent. One trial is a lead, more are a finding.", h("ul.findings", some(all, item, 20)));
}
