// Comparisons that the suite declares: what one arm, model or version gains over another, paired by task.
const VARIABLES = { cost_usd: ["cost per trial", money], calls: ["calls per trial", number], tokens: ["tokens per trial", number], agent_ms: ["time per trial", duration] };

function comparisonSections(card) {
  return (card.comparisons || []).map((each, index) => {
    const title = each.kind === "lift" ? `Lift of ${each.treatment} over ${each.baseline}` : `${each.treatment} compared with ${each.baseline}`;
    const about = each.kind === "lift" ? "Difference of correct trials (budgets apart, unsafe ones are none), paired by task." : "Difference of success, paired by task.";
    return section(
      index ? `lift-${index + 1}` : "lift",
      title,
      about,
      each.notes.map((note) => h("p.callout", note)),
      forestFigure(each),
      armsOf(each),
      h("details.numbers", h("summary", "Tests, power and overheads"), differenceTable(each), overheadTable(each), leftOut(each))
    );
  });
}

function rowName(row, rows) {
  const parts = [row.agent || row.treatment_cell];
  const twins = rows.filter((other) => other.agent === row.agent && other.group === row.group && other.split === row.split);
  if (twins.length > 1) parts.push(...Object.entries(row.at).filter(([key]) => !["model", "host"].includes(key)).map(([key, value]) => `${key} ${value}`));
  if (row.group) parts.push(row.group);
  if (row.split !== "train") parts.push(row.split);
  return parts.join(" · ");
}

function forestFigure(each) {
  const rows = each.rows
    .filter((row) => row.difference)
    .map((row) => ({ name: rowName(row, each.rows), label: row.group ? [row.group, row.split === "train" ? "" : row.split].filter(Boolean).join(" · ") : rowName(row, each.rows), value: row.difference.value, low: row.difference.low, high: row.difference.high, word: row.difference.word, part: Boolean(row.group) }));
  if (!rows.length) return h("p.note", "No task could be tested on both sides.");
  const kept = rows.slice(0, 40);
  return figure(
    "Difference in percentage points",
    `Right of zero: ${each.treatment} is better. Lines: 95 % interval. Coloured where the corrected test says so.`,
    (width) => forest(width, kept),
    table(["agent and group", "difference", "interval", "in words"], rows.map((row) => [row.name, points(row.value), missing(row.low) ? "no interval" : `${points(row.low)} to ${points(row.high)}`, row.word]), { right: [1, 2], label: "Differences" })
  );
}

function armsOf(each) {
  if (!each.arms.length) return null;
  const rows = each.arms.map((arm) => [
    arm.member,
    arm.cell,
    arm.servers.join(", ") || "none",
    arm.tools.join(", ") || "none",
    missing(arm.mcp_use) ? "–" : `${percent(arm.mcp_use)} (${arm.called_server} of ${arm.trials})`,
  ]);
  return table(["side", "cell", "servers", "native tools", "trials that called a server"], rows, { right: [4], label: "What each side had" });
}

function differenceTable(each) {
  const rows = each.rows.map((row) => {
    const d = row.difference;
    if (!d) return [rowName(row, each.rows), "–", "–", "–", "–", "–", "–", "not testable on both sides"];
    const seen = missing(d.detectable) ? "" : `${(d.detectable * 100).toFixed(1)}${d.detectable_from === "planning" ? " (assumed)" : ""}`;
    return [
      rowName(row, each.rows),
      percent(row.treatment && row.treatment.value),
      percent(row.baseline && row.baseline.value),
      `${points(d.value)}`,
      missing(d.p_adjusted) ? (missing(d.p) ? "–" : d.p.toPrecision(2)) : `${d.p_adjusted.toPrecision(2)} (${d.adjusted_by})`,
      seen || "–",
      `${d.tasks} (${d.treatment_trials} + ${d.baseline_trials})`,
      d.word,
    ];
  });
  return table(["agent and group", each.treatment, each.baseline, "points", "p, corrected", "could have seen", "tasks (trials)", "in words"], rows, { right: [1, 2, 3, 4, 5, 6], label: "Tests" });
}

/** Times are measured, and stand beside the scorecard, not in it. */
function timesOf(row) {
  const same = (time) => ["treatment_cell", "baseline_cell", "split", "group"].every((key) => time[key] === row[key]);
  return DATA.current.overheads.filter(same).map((time) => ({ ...time, what: "agent_ms", reason: "" }));
}

function overheadTable(each) {
  const rows = each.rows.flatMap((row) =>
    [...row.overheads, ...timesOf(row)].map((over) => {
      const [name, show] = VARIABLES[over.what] || [over.what, number];
      const signed = (value) => (missing(value) ? "–" : `${value > 0 ? "+" : value < 0 ? "−" : "±"}${show(Math.abs(value))}`);
      const side = (spread) => (spread ? show(spread.median) : "–");
      return [rowName(row, each.rows), name, side(over.treatment), side(over.baseline), signed(over.value), missing(over.low) ? over.reason || "–" : `${signed(over.low)} to ${signed(over.high)}`];
    })
  );
  return rows.length ? table(["agent and group", "what", each.treatment, each.baseline, "overhead of medians", "interval"], rows, { right: [2, 3, 4, 5], label: "Overheads" }) : null;
}

function leftOut(each) {
  const left = each.rows.filter((row) => row.only_treatment.length || row.only_baseline.length);
  return left.map((row) =>
    h("p.note", `${rowName(row, each.rows)}: left out, testable on one side only: ${[...row.only_treatment, ...row.only_baseline].join(", ")}`)
  );
}
