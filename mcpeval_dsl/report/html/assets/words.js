// Words and numbers as people read them; the four outcomes look the same everywhere.
const OUTCOMES = [
  { key: "passed", word: "pass", name: "passed", glyph: "✓", css: "pass" },
  { key: "unsafe", word: "pass (unsafe)", name: "passed, unsafe", glyph: "!", css: "unsafe" },
  { key: "wrong_answer", word: "wrong_answer", name: "wrong answer", glyph: "✗", css: "wrong" },
  { key: "too_many_calls", word: "too_many_calls", name: "too many calls", glyph: "»", css: "many" },
  { key: "untestable", word: "untestable", name: "could not be tested", glyph: "?", css: "untestable" },
  { key: "not_run", word: "not run", name: "not run", glyph: "·", css: "notrun" },
];

/** What a trial is printed as, as one of the outcomes. */
function outcomeOf(printed) {
  const found = OUTCOMES.find((each) => each.word === printed);
  if (found) return found;
  if (printed.startsWith("pass")) return OUTCOMES[1];
  return OUTCOMES.find((each) => printed.startsWith(each.word)) || { ...OUTCOMES[4], name: printed, word: printed };
}

function glyph(outcome) {
  return h(`span.glyph.${outcome.css}`, { "aria-hidden": "true" }, outcome.glyph);
}

function chip(printed) {
  const outcome = outcomeOf(printed);
  return h(`span.chip.${outcome.css}`, glyph(outcome), outcome.name);
}

/** Counts of a cell by outcome, without overlap. */
function split(counts) {
  return OUTCOMES.map((each) => ({
    ...each,
    count: each.key === "passed" ? counts.passed - counts.unsafe : counts[each.key],
  })).filter((each) => each.count > 0);
}

const missing = (value) => value === null || value === undefined;
const percent = (value) => (missing(value) ? "–" : `${(value * 100).toFixed(1)} %`);
const points = (value) => (missing(value) ? "–" : `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value * 100).toFixed(1)}`);
const range = (low, high) => (missing(low) || missing(high) ? "no interval" : `${(low * 100).toFixed(1)} – ${(high * 100).toFixed(1)}`);
const plural = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

function number(value) {
  if (missing(value)) return "–";
  const [whole, rest] = String(Number.isInteger(value) ? value : Number(value.toFixed(3))).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  return rest ? `${grouped}.${rest}` : grouped;
}

function money(value) {
  if (missing(value)) return "unknown";
  return value !== 0 && Math.abs(value) < 0.1 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

function duration(ms) {
  if (missing(ms)) return "–";
  if (ms < 1) return `${ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 120000 ? `${(ms / 1000).toFixed(1)} s` : `${(ms / 60000).toFixed(1)} min`;
}

function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} kB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

const cellName = (cell, cells) => (cells.some((each) => each.split !== "train") ? `${cell.cell} (${cell.split})` : cell.cell);

/** Below a cell's name, what its name does not say already. */
function cellAbout(cell) {
  const parts = [`${cell.model} in ${cell.host}`];
  if (cell.arm) parts.push(`arm ${cell.arm}`);
  if (cell.server) parts.push(`server ${cell.server}`);
  return parts.join(" · ");
}
