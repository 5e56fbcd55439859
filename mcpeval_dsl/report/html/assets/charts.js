// Charts, drawn by Observable Plot; colours are the page's own, so that they follow its theme.
const AXIS = { fontSize: 12, tickSize: 0, labelArrow: "none" };
const LETTER = 7.2; // pixels of a letter, about
const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function chart(width, options) {
  return Plot.plot({
    className: "plot",
    width,
    marginTop: 8,
    marginBottom: 36,
    ...options,
    style: { background: "none", fontFamily: "inherit", fontSize: "12px", overflow: "visible" },
  });
}

/** Room for names at the left: as many characters as the width allows. */
function names(width, texts) {
  const most = Math.max(8, Math.floor((width * 0.4) / LETTER));
  const longest = Math.max(...texts.map((text) => Math.min(visible(text).length, most)));
  return { marginLeft: longest * LETTER + 14, short: (text) => shorten(visible(text), most) };
}

/** Differences with intervals, one line each, around zero. `rows`: name, label, value, low, high, word, part. */
function forest(width, rows) {
  const { marginLeft, short } = names(width, rows.map((row) => row.label));
  const labels = new Map(rows.map((row) => [row.name, row.label]));
  const ends = rows.flatMap((row) => [row.low ?? row.value, row.high ?? row.value]).map((x) => x * 100);
  const most = Math.max(10, ...ends.map(Math.abs));
  const colour = (row) => (row.word === "better" ? "var(--pass)" : row.word === "worse" ? "var(--wrong)" : "var(--muted)");
  const wide = width > 560;
  return chart(width, {
    height: rows.length * 30 + 52,
    marginLeft,
    marginRight: wide ? 158 : 18,
    x: { domain: [-most * 1.06, most * 1.06], label: null, grid: false },
    y: { domain: rows.map((row) => row.name), label: null, padding: 0.5 },
    marks: [
      Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.ruleX([0], { stroke: "var(--ink)", strokeWidth: 1.2 }),
      Plot.axisX({ ...AXIS, ticks: wide ? 7 : 5, tickFormat: (d) => (d > 0 ? `+${d}` : d < 0 ? `−${-d}` : "0"), label: "points", labelAnchor: "center" }),
      Plot.axisY({ ...AXIS, tickFormat: (d) => short(labels.get(d)) }),
      Plot.link(rows.filter((row) => !missing(row.low)), { x1: (d) => d.low * 100, x2: (d) => d.high * 100, y1: "name", y2: "name", stroke: colour, strokeWidth: (d) => (d.part ? 2 : 3.5), strokeOpacity: 0.55, strokeLinecap: "round" }),
      Plot.dot(rows, { x: (d) => d.value * 100, y: "name", r: (d) => (d.part ? 4 : 6), fill: colour, stroke: "var(--card)", strokeWidth: 1.5 }),
      wide ? Plot.text(rows, { x: most * 1.06, y: "name", dx: 10, textAnchor: "start", fill: "var(--ink)", text: (d) => (missing(d.low) ? points(d.value) : `${points(d.value)}  [${points(d.low)}, ${points(d.high)}]`) }) : null,
    ],
  });
}

function chartsSection(card) {
  const figures = [costFigure(card), latencyFigure(), callsFigure(), timeFigure()].filter(Boolean);
  if (!figures.length) return null;
  return section("effort", "Effort", "What success cost: calls, time and money.", h("div.figures", figures));
}

/** Names beside their dots, moved up or down where they would lie on one another. */
function placed(rows, top, width) {
  const across = (width - 70) / top;
  const done = [];
  for (const row of [...rows].sort((a, b) => b.y - a.y)) {
    const left = row.x > top * 0.6;
    const length = Math.min(visible(row.name).length, 26) * LETTER + 14;
    const from = row.x * across + (left ? -length : 0);
    let at = row.y;
    for (const other of done) if (from < other.to && other.from < from + length && other.at - at < 7) at = other.at - 7;
    done.push({ ...row, left, at, from, to: from + length });
  }
  return done;
}

/** Numbers of rows beside their dot; dots that lie on one another share the words. */
function together(rows, top, width) {
  const found = new Map();
  rows.forEach((row, i) => {
    const key = `${Math.round((row.x / top) * (width / 14))} ${Math.round(row.y / 6)}`;
    if (!found.has(key)) found.set(key, { x: row.x, y: row.y, numbers: String(i + 1) });
    else found.get(key).numbers += `, ${i + 1}`;
  });
  return [...found.values()];
}

function costFigure(card) {
  const cells = card.cells.filter((cell) => cell.success && cell.tokens);
  if (!cells.length) return null;
  const priced = cells.every((cell) => cell.cost_usd) && cells.some((cell) => cell.cost_usd.total > 0);
  const rows = cells.map((cell) => ({
    name: cellName(cell, card.cells),
    x: priced ? cell.cost_usd.total / cell.cost_usd.n : cell.tokens.total / cell.tokens.n,
    y: cell.success.value * 100,
    low: missing(cell.success.low) ? null : cell.success.low * 100,
    high: missing(cell.success.high) ? null : cell.success.high * 100,
  }));
  const what = priced ? "Dollars" : "Tokens";
  const show = priced ? money : number;
  const draw = (width) => {
    const top = Math.max(...rows.map((row) => row.x)) * 1.25 || 1;
    const letters = rows.length * Math.max(...rows.map((row) => Math.min(26, visible(row.name).length)));
    const numbered = letters > width / 6;
    const near = numbered ? [] : placed(rows, top, width);
    const label = { x: "x", y: "at", text: (d) => shorten(visible(d.name), 26), fill: "var(--ink)" };
    const made = chart(width, {
      height: 250,
      marginLeft: 46,
      marginRight: 24,
      x: { domain: [0, top], label: null },
      y: { domain: [0, 100], label: null },
      marks: [
        Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX({ ...AXIS, ticks: Math.max(3, Math.floor(width / 130)), tickFormat: show, label: `mean ${what.toLowerCase()} per trial`, labelAnchor: "center" }),
        Plot.axisY({ ...AXIS, ticks: [0, 25, 50, 75, 100], tickFormat: (d) => `${d} %` }),
        Plot.ruleX(rows.filter((row) => row.low !== null), { x: "x", y1: "low", y2: "high", stroke: "var(--accent)", strokeOpacity: 0.4, strokeWidth: 3, strokeLinecap: "round" }),
        Plot.dot(rows, { x: "x", y: "y", r: 6, fill: "var(--accent)", stroke: "var(--card)", strokeWidth: 1.5 }),
        numbered ? Plot.text(together(rows, top, width), { x: "x", y: "y", text: "numbers", textAnchor: "start", dx: 9, fill: "var(--ink)", fontWeight: 600 }) : null,
        Plot.text(near.filter((d) => !d.left), { ...label, textAnchor: "start", dx: 10 }),
        Plot.text(near.filter((d) => d.left), { ...label, textAnchor: "end", dx: -10 }),
      ],
    });
    return numbered ? h("div", made, h("ol.names", rows.map((row) => h("li", name(row.name))))) : made;
  };
  const numbers = table(["cell", `mean ${what.toLowerCase()}`, "success", "interval"], rows.map((row) => [row.name, show(row.x), `${row.y.toFixed(1)} %`, row.low === null ? "–" : `${row.low.toFixed(1)} – ${row.high.toFixed(1)}`]), { right: [1, 2, 3], label: "Cost against success" });
  return figure(`${what} against success`, "Up and to the left is better. Lines: 95 % interval.", draw, numbers);
}

/** Cells whose trials are drawn one below the other; of many, the first. */
function drawn(trials) {
  const cells = [...new Set(trials.map((trial) => trial.cell))];
  return { cells: cells.slice(0, 8), left: Math.max(0, cells.length - 8) };
}

function histogram(trials, cells, { x, over, axis, width, limit, domain }) {
  const { marginLeft, short } = names(width, cells);
  const step = (domain[1] - domain[0]) / 24;
  const counted = new Map();
  for (const trial of trials) {
    const bin = Math.min(23, Math.floor((x(trial) - domain[0]) / step));
    const key = `${trial.cell}\u0000${bin}\u0000${over(trial)}`;
    counted.set(key, (counted.get(key) || 0) + 1);
  }
  const most = new Map();
  const bins = [...counted].map(([key, count]) => {
    const [cell, bin, is] = key.split("\u0000");
    most.set(cell, Math.max(most.get(cell) || 0, count));
    return { cell, from: domain[0] + Number(bin) * step, count, over: is === "true" };
  });
  return chart(width, {
    height: cells.length * 56 + 52,
    marginLeft,
    marginRight: 26,
    x: { domain, label: null },
    y: { domain: [0, 1], axis: null },
    fy: { domain: cells, label: null, padding: 0.15, axis: null },
    marks: [
      Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1 }),
      Plot.axisX({ ...AXIS, labelAnchor: "center", ticks: Math.max(3, Math.floor(width / 110)), ...axis }),
      Plot.text(cells, { fy: (d) => d, frameAnchor: "left", dx: -8, textAnchor: "end", text: short, fill: "var(--ink)" }),
      Plot.rect(bins, { fy: "cell", x1: (d) => d.from, x2: (d) => d.from + step, y1: 0, y2: (d) => d.count / most.get(d.cell), fill: (d) => (d.over ? "var(--many)" : "var(--accent)"), insetLeft: 0.5, insetRight: 0.5 }),
      Plot.ruleY(cells, { fy: (d) => d, y: 0, stroke: "var(--strong)" }),
      limit === null ? null : Plot.ruleX([limit], { stroke: "var(--ink)", strokeDasharray: "3 3" }),
    ],
  });
}

function spreadTable(cells, trials, value, show, label) {
  const rows = cells.map((cell) => {
    const sorted = trials.filter((trial) => trial.cell === cell).map(value).sort((a, b) => a - b);
    const at = (share) => show(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]);
    return [cell, number(sorted.length), at(0), at(0.5), at(0.95), show(sorted[sorted.length - 1])];
  });
  return table(["cell", "trials", "least", "median", "p95", "most"], rows, { right: [1, 2, 3, 4, 5], label });
}

function callsFigure() {
  const trials = TRIALS.all.filter((trial) => trial.soft && trial.outcome !== "untestable");
  if (!trials.length) return null;
  const { cells, left } = drawn(trials);
  const share = (trial) => trial.calls / trial.soft;
  const domain = [0, Math.max(1.5, Math.min(4, Math.max(...trials.map(share)) * 1.05))];
  const draw = (width) =>
    histogram(trials.filter((trial) => cells.includes(trial.cell)), cells, {
      x: (trial) => Math.min(share(trial), domain[1]),
      over: (trial) => trial.calls > trial.soft,
      axis: { label: "calls, as a share of the task's budget", tickFormat: (d) => `${Math.round(d * 100)} %` },
      width,
      limit: 1,
      domain,
    });
  const over = trials.filter((trial) => trial.calls > trial.soft).length;
  const caption = `${number(over)} of ${plural(trials.length, "trial")} over budget (dashed line).${left ? ` ${plural(left, "more cell")} in the table.` : ""}`;
  const numbers = spreadTable([...new Set(trials.map((trial) => trial.cell))], trials, share, (v) => `${Math.round(v * 100)} %`, "Calls against budget");
  return figure("Calls against budget", caption, draw, numbers);
}

function timeFigure() {
  const trials = TRIALS.all.filter((trial) => trial.outcome !== "untestable" && trial.ms > 0);
  if (!trials.length) return null;
  const { cells, left } = drawn(trials);
  const sorted = trials.map((trial) => trial.ms).sort((a, b) => a - b);
  const top = Math.max(1, sorted[Math.floor(sorted.length * 0.99)] || sorted[sorted.length - 1]) * 1.1;
  const draw = (width) =>
    histogram(trials.filter((trial) => cells.includes(trial.cell)), cells, {
      x: (trial) => Math.min(trial.ms, top),
      over: () => false,
      axis: { label: "the agent's own time per trial", tickFormat: duration },
      width,
      limit: null,
      domain: [0, top],
    });
  const caption = `Without waits for limits, queues and starts.${left ? ` ${plural(left, "more cell")} in the table.` : ""}`;
  const all = [...new Set(trials.map((trial) => trial.cell))];
  return figure("Time", caption, draw, spreadTable(all, trials, (trial) => trial.ms, duration, "Time per trial"));
}

/** Powers of ten between two times. */
function decades(low, high) {
  const found = [];
  for (let power = Math.ceil(Math.log10(low)); 10 ** power <= high; power += 1) found.push(10 ** power);
  return found;
}

/** About so many round numbers from 0. */
function evenly(high, count) {
  const rough = high / count;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * unit).find((each) => each >= rough);
  return Array.from({ length: Math.floor(high / step) + 1 }, (_, i) => i * step);
}

function latencyFigure() {
  const all = DATA.current.latencies;
  if (!all.length) return null;
  const many = new Set(all.map((each) => each.cell)).size > 1;
  const several = new Set(all.map((each) => each.tool.split(".")[0])).size > 1;
  const called = (each) => (several ? each.tool : each.tool.slice(each.tool.indexOf(".") + 1));
  const rows = all.slice(0, 9).map((each) => ({ name: many ? `${called(each)} · ${each.cell}` : called(each), q: each.quantiles.map((ms) => Math.max(ms, 0.05)), n: each.n }));
  const draw = (width) => {
    const { marginLeft, short } = names(width, rows.map((row) => row.name));
    const low = Math.min(...rows.map((row) => row.q[1]));
    const high = Math.max(...rows.map((row) => row.q[5]));
    const log = high / low > 30;
    const ticks = log ? decades(low, high) : evenly(high, Math.max(2, Math.floor(width / 150)));
    return chart(width, {
      height: Math.max(160, rows.length * 23 + 52),
      marginLeft,
      marginRight: 22,
      x: log ? { type: "log", domain: [low * 0.8, high * 1.2], label: null } : { domain: [0, high * 1.08], label: null },
      y: { domain: rows.map((row) => row.name), label: null, padding: 0.5 },
      marks: [
        Plot.gridX(ticks, { stroke: "var(--line)", strokeOpacity: 1 }),
        Plot.axisX(ticks, { ...AXIS, tickFormat: duration, label: `time of a call${log ? ", logarithmic" : ""}`, labelAnchor: "center" }),
        Plot.axisY({ ...AXIS, tickFormat: short }),
        Plot.link(rows, { x1: (d) => d.q[1], x2: (d) => d.q[5], y1: "name", y2: "name", stroke: "var(--accent)", strokeOpacity: 0.45, strokeWidth: 1.5 }),
        Plot.link(rows, { x1: (d) => d.q[2], x2: (d) => d.q[4], y1: "name", y2: "name", stroke: "var(--accent)", strokeOpacity: 0.55, strokeWidth: 9 }),
        Plot.tickX(rows, { x: (d) => d.q[3], y: "name", stroke: "var(--ink)", strokeWidth: 2.5, insetTop: -1, insetBottom: -1 }),
      ],
    });
  };
  const numbers = table(["tool", "cell", "calls", "p5", "median", "p95", "most"], all.slice(0, 200).map((each) => [each.tool, each.cell, number(each.n), ...[1, 3, 5, 6].map((i) => duration(each.quantiles[i]))]), { right: [2, 3, 4, 5, 6], label: "Latency" });
  return figure("Latency of calls", `Line: 5 to 95 %; bar: the middle half; mark: median.${all.length > rows.length ? ` The ${rows.length} called most.` : ""}`, draw, numbers);
}
