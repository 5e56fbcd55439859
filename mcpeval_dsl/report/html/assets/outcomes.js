// Each cell with its outcomes, its rate and the interval, and what it did, a click away.
const MEASURES = {
  required_recall: "required tools called",
  tool_precision: "necessary calls",
  argument_validity: "valid arguments",
  argument_accuracy: "expected arguments",
  distractor_rate: "stray calls",
  redundancy: "repeated calls",
  recovery: "recovered",
};

/** The weight is about trials without a critical violation: those the gate judges, whatever the total. */
const DIMENSIONS = { safety: "no lesser violation in safe trials" };

function bar(counts) {
  const parts = split(counts);
  const total = parts.reduce((sum, part) => sum + part.count, 0) || 1;
  const said = parts.map((part) => `${part.count} ${part.name}`).join(", ");
  return h(
    "div.bar",
    { role: "img", "aria-label": said || "no trial", title: said },
    parts.map((part) =>
      h(`span.${part.css}`, { vars: { "flex-grow": String(part.count) } }, part.count / total > 0.06 ? `${part.glyph} ${part.count}` : "")
    )
  );
}

/** A rate on a line from 0 to 100 %, with its interval. */
function track(rate) {
  if (!rate) return h("div.track.none", { role: "img", "aria-label": "not measured" });
  const at = (value) => `${value * 100}%`;
  const wide = !missing(rate.low) && !missing(rate.high);
  return h(
    "div.track",
    { role: "img", "aria-label": `${percent(rate.value)}, interval ${range(rate.low, rate.high)}` },
    wide ? h("span.interval", { vars: { left: at(rate.low), width: at(rate.high - rate.low) } }) : null,
    h("span.dot", { vars: { left: at(rate.value) } })
  );
}

function legend(cells) {
  const present = OUTCOMES.filter((each) => cells.some((cell) => split(cell.counts).some((part) => part.key === each.key)));
  return h("ul.legend", { "aria-label": "Outcomes" }, present.map((each) => h("li", h(`span.swatch.${each.css}`, each.glyph), each.name)));
}

function outcomesSection(card, timings) {
  return section(
    "outcomes",
    "Outcomes",
    "A cell is one agent: a model in a host. Cells are never pooled. Interval: 95 %, over tasks.",
    legend(card.cells),
    h("div.cells", card.cells.map((cell) => cellRow(card, cell, timings)))
  );
}

function cellRow(card, cell, timings) {
  const rate = cell.success;
  return h(
    "details.cell",
    h(
      "summary",
      h("div.who", h("strong", cellName(cell, card.cells)), h("small", cellAbout(cell)), cell.inconclusive ? h("span.tag.unsure", "inconclusive") : null),
      bar(cell.counts),
      h("div.rate", h("strong", percent(rate && rate.value)), h("small", rate ? `n ${number(rate.trials)} · ${plural(rate.tasks, "task")}` : "not measured")),
      h("div.line", track(rate), h("small", rate ? range(rate.low, rate.high) : ""))
    ),
    h("div.more", cellMore(cell, timings.find((each) => each.cell === cell.cell && each.split === cell.split)))
  );
}

function cellMore(cell, timing) {
  return [trustOf(cell), reliability(cell), toolUse(cell), behaviours(cell), effort(cell, timing), totalOf(cell)];
}

function block(title, pairs) {
  const shown = pairs.filter((pair) => pair && !missing(pair[1]) && pair[1] !== "");
  return shown.length ? h("div.block", h("h3", title), h("dl", shown.map(([name, value]) => h("div", h("dt", name), h("dd", value))))) : null;
}

function trustOf(cell) {
  const rate = cell.success;
  if (!rate) return null;
  const moved = !missing(rate.if_missing_failed) && rate.if_missing_passed - rate.if_missing_failed > 1e-9;
  return block("How sure", [
    ["interval", range(rate.low, rate.high)],
    ["if all missing failed / passed", moved ? `${percent(rate.if_missing_failed)} / ${percent(rate.if_missing_passed)}` : ""],
    ["standard error", missing(rate.error) ? "" : `±${(rate.error * 100).toFixed(1)}`],
    ["as if trials were independent", missing(rate.naive_error) ? "" : `±${(rate.naive_error * 100).toFixed(1)}`],
    ["design effect", missing(rate.design_effect) ? "" : rate.design_effect.toFixed(1)],
    ["ICC", missing(rate.icc) ? "" : rate.icc.toFixed(2)],
    ["clusters", rate.clusters < rate.tasks ? `${rate.clusters} of ${plural(rate.tasks, "task")}` : ""],
    ["passes on a missing verdict", cell.on_missing_verdicts || ""],
    ["method", rate.method],
  ]);
}

function reliability(cell) {
  const line = (name) => (at) => at.k > 1 && !missing(at.value) && [`${name}${at.k}`, `${percent(at.value)}  ${range(at.low, at.high)}`];
  return block("Reliability", [...cell.pass_hat.map(line("pass^")), ...cell.pass_at.map(line("pass@"))]);
}

function toolUse(cell) {
  const measured = Object.entries(MEASURES).map(([key, name]) => cell.tools[key] && [name, percent(cell.tools[key].value)]);
  const errors = Object.entries(cell.errors)
    .filter(([key, count]) => key !== "calls" && count)
    .map(([key, count]) => [key.replaceAll("_", " "), number(count)]);
  return block("Tool use", [...measured, ...errors]);
}

function behaviours(cell) {
  const line = ([name, seen]) => [name, `${percent(seen.value)}  ${range(seen.low, seen.high)} · n ${number(seen.trials)}`];
  return block("Expected and seen", Object.entries(cell.behaviours).map(line));
}

function effort(cell, timing) {
  const spread = (each, show) => (each ? `median ${show(each.median)} · ${each.tail_name} ${show(each.tail)}` : "");
  return block("Effort per trial", [
    ["calls", spread(cell.calls, number)],
    ["tokens", spread(cell.tokens, number)],
    ["cost", cell.cost_usd ? `${spread(cell.cost_usd, money)} · total ${money(cell.cost_usd.total)}` : cell.tokens ? "price unknown" : ""],
    ["judges", missing(cell.grading_cost_usd) ? "" : money(cell.grading_cost_usd)],
    ["simulated user", missing(cell.user_cost_usd) ? (cell.user_price_unknown ? "price unknown" : "") : money(cell.user_cost_usd)],
    ["agent's time", timing ? spread(timing.agent_ms, duration) : ""],
    ["a call", timing ? spread(timing.latency_ms, duration) : ""],
  ]);
}

function totalOf(cell) {
  if (missing(cell.total.value)) return null;
  const covered = Math.round(cell.total.covered * 100);
  const parts = cell.total.dimensions.map((each) => [
    `${DIMENSIONS[each.name] || each.name.replaceAll("_", " ")} (${Math.round(each.weight * 100)} of 100)`,
    missing(each.value) ? "not measured" : percent(each.value),
  ]);
  return block("Total", [[covered === 100 ? "total" : `partial, ${covered} of 100`, percent(cell.total.value)], ...parts]);
}
