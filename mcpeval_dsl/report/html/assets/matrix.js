// The heat map: groups of tasks, or single tasks, against cells. Colour and number say the same.
function heat(rate) {
  const away = Math.abs(rate - 0.5) * 2;
  return { "--heat": rate >= 0.5 ? "var(--pass)" : "var(--wrong)", "--strength": `${(6 + away * 44).toFixed(0)}%` };
}

function matrixSection(card) {
  const cells = [...new Set(card.cells.map((cell) => cell.cell))];
  const body = h("div");
  const views = [["tasks", "Tasks", () => taskMap(card, cells)]];
  if (card.matrix && card.matrix.length) views.unshift(["groups", "Groups of tasks", () => groupMap(card, cells)]);
  const buttons = views.map(([key, name, draw]) =>
    h("button", { type: "button", "aria-pressed": "false", on: { click: () => choose(key, draw) } }, name)
  );
  function choose(key, draw) {
    views.forEach(([other], index) => buttons[index].setAttribute("aria-pressed", String(other === key)));
    replace(body, draw());
  }
  choose(views[0][0], views[0][2]);
  return section(
    "matrix",
    "Matrix",
    "Share of testable trials that passed. Hatched: too much could not be tested.",
    views.length > 1 ? h("div.switch", { role: "group", "aria-label": "Rows" }, buttons) : null,
    body
  );
}

function heatTable(corner, cells, rows, label) {
  return h(
    "div.scroll",
    { tabindex: "0", role: "region", "aria-label": label },
    h(
      "table.heat",
      h("thead", h("tr", h("th", { scope: "col" }, corner), cells.map((cell) => h("th", { scope: "col" }, name(cell))))),
      h("tbody", rows.map(([row, about, entries]) => h("tr", h("th", { scope: "row" }, name(row), about ? h("small", about) : null), entries)))
    )
  );
}

function groupMap(card, cells) {
  const held = new Set(card.matrix.map((entry) => entry.split)).size > 1;
  const rows = new Map();
  for (const entry of card.matrix) {
    const name = `${entry.group || "all tasks"}${held ? ` (${entry.split})` : ""}`;
    if (!rows.has(name)) rows.set(name, new Map());
    rows.get(name).set(entry.cell, entry);
  }
  const shown = [...rows].map(([name, found]) => {
    const tasks = Math.max(...[...found.values()].map((entry) => entry.tasks));
    return [name, plural(tasks, "task"), cells.map((cell) => groupCell(found.get(cell)))];
  });
  return heatTable("group", cells, shown, "Groups of tasks by cells");
}

function groupCell(entry) {
  if (!entry || !entry.success) return h("td.nothing", "–");
  const { success, difference } = entry;
  const word = difference ? difference.word : "";
  const arrow = word === "better" ? "▲" : word === "worse" ? "▼" : "";
  const more = [
    `interval ${range(success.low, success.high)}`,
    `n ${entry.trials} in ${plural(entry.tasks, "task")}`,
    split(entry.counts).map((part) => `${part.count} ${part.name}`).join(", "),
    entry.calls ? `calls median ${number(entry.calls.median)}, ${entry.calls.tail_name} ${number(entry.calls.tail)}` : "",
    entry.cost_usd ? `cost ${money(entry.cost_usd.total)}` : "",
    difference ? `${points(difference.value)} points against ${entry.reference}: ${difference.word}` : "",
  ];
  return h(
    `td${entry.inconclusive ? ".inconclusive" : ""}`,
    { vars: heat(success.value), title: more.filter(Boolean).join("\n") },
    h("strong", percent(success.value), arrow ? h("span.arrow", { "aria-label": `${word} than ${entry.reference}` }, arrow) : null),
    h("small", `${range(success.low, success.high)}`),
    h("small", `n ${number(entry.trials)}`),
    bar(entry.counts)
  );
}

function taskMap(card, cells) {
  const rows = new Map();
  for (const row of card.rows) {
    if (!rows.has(row.instance)) rows.set(row.instance, new Map());
    rows.get(row.instance).set(row.cell, row);
  }
  const all = [...rows];
  const failing = ([, found]) => [...found.values()].some((row) => row.passed < row.planned);
  const most = 60;
  const chosen = all.length > most ? [...all.filter(failing), ...all.filter((each) => !failing(each))].slice(0, most) : all;
  const place = h("div");
  const draw = (list) =>
    replace(
      place,
      heatTable("task", cells, list.map(([name, found]) => [name, tagsOf(found), cells.map((cell) => taskCell(found.get(cell)))]), "Tasks by cells"),
      list.length < all.length ? h("button.more", { type: "button", on: { click: () => draw(all) } }, `All ${number(all.length)} tasks`) : null
    );
  return draw(chosen);
}

function tagsOf(found) {
  const row = found.values().next().value;
  return [...row.tags, row.split === "train" ? "" : row.split].filter(Boolean).join(", ");
}

function taskCell(row) {
  if (!row) return h("td.nothing", "–");
  const first = row.outcomes.findIndex((word) => word !== "pass" && word !== "not run") + 1 || 1;
  const id = `${row.instance}@${row.cell}#${first}`;
  const known = row.known_failure ? h("small.known", row.stale ? "known failure, passes now" : "known failure") : null;
  const glyphs = row.outcomes.length <= 12 ? row.outcomes.map((word) => glyph(outcomeOf(word))) : [];
  const label = row.testable ? `${row.passed}/${row.testable}` : "0/0";
  const extra = row.untestable ? h("small", `${row.untestable} not tested`) : null;
  const inside = [h("strong", trialLink(id, label)), h("span.glyphs", glyphs), known, extra];
  const title = `${row.instance} in ${row.cell}: ${row.passed} of ${row.testable} passed; interval of this task alone ${range(row.low, row.high)}`;
  if (!row.testable) return h("td.inconclusive", { title }, inside);
  return h("td", { vars: heat(row.passed / row.testable), title }, inside);
}
