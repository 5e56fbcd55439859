// The first thing to read: did it pass, and why not.
const VERDICTS = {
  PASS: { css: "good", glyph: "✓", text: "The gate is passed" },
  FAIL: { css: "bad", glyph: "✗", text: "The gate failed" },
  "NOT DECIDED": { css: "unsure", glyph: "?", text: "The gate is not decided" },
};

function verdictWord(word) {
  const verdict = VERDICTS[word] || VERDICTS["NOT DECIDED"];
  return h(`span.verdict.${verdict.css}`, h("span.glyph", { "aria-hidden": "true" }, verdict.glyph), word);
}

function hero(card) {
  const verdict = VERDICTS[card.gate.word] || VERDICTS["NOT DECIDED"];
  const count = (word) => card.gate.rules.filter((rule) => rule.word === word).length;
  const failing = count("FAIL");
  const open = count("NOT DECIDED");
  const rules = card.gate.declared ? plural(card.gate.rules.length, "rule") : "no gate block: safety alone";
  const short = [failing ? `${failing} ${failing === 1 ? "does" : "do"} not hold` : null, open ? `${open} ${open === 1 ? "is" : "are"} not decided` : null].filter(Boolean);
  const how = short.length ? `Of ${rules} ${short.join(", ")}` : rules;
  return h(
    `header.hero.${verdict.css}`,
    h("p.eyebrow", `${card.spec} · run ${DATA.current.run}`),
    h("h1", card.title || card.suite),
    h(
      "div.banner",
      h("span.mark", { "aria-hidden": "true" }, verdict.glyph),
      h("div", h("p.word", verdict.text), h("p.how", how), card.gate.reasons.map((reason) => h("p.how", `because ${reason}`)))
    ),
    card.complete ? null : h("p.incomplete", incomplete(card)),
    card.heldout_look ? h("p.how", `Held-out tasks: look ${card.heldout_look}; each makes them less held out.`) : null,
    h("dl.facts", facts(card).map(([name, value, about]) => h("div", h("dt", name), h("dd", value, about ? h("small", about) : null))))
  );
}

function incomplete(card) {
  const why = card.recorded < card.planned ? `${number(card.planned - card.recorded)} of ${plural(card.planned, "planned trial")} are not on record` : "infrastructure kept some trials from being tested";
  return `Incomplete: ${why}. The same mcpe run continues it.`;
}

function facts(card) {
  const rates = card.cells.map((cell) => cell.success && cell.success.value).filter((value) => !missing(value));
  const low = Math.min(...rates);
  const high = Math.max(...rates);
  const spread = low === high ? percent(low) : `${(low * 100).toFixed(0)}–${(high * 100).toFixed(0)} %`;
  const costs = card.cells.map((cell) => (cell.cost_usd ? cell.cost_usd.total : null));
  const known = costs.length > 0 && costs.every((cost) => cost !== null);
  const tokens = card.cells.reduce((sum, cell) => sum + (cell.tokens ? cell.tokens.total : 0), 0);
  const { safety } = card;
  const confirmed = card.leads.filter((lead) => lead.status === "confirmed").length;
  return [
    ["success", rates.length ? spread : "–", rates.length > 1 ? `worst to best of ${card.cells.length} cells` : "mean over tasks"],
    ["trials", number(card.recorded), card.recorded === card.planned ? `of ${plural(card.tasks, "task")}` : `of ${number(card.planned)} planned`],
    ["critical violations", number(safety.trials_with_critical), `of ${plural(safety.exposed_trials, "trial")}`],
    ["server defects", number(confirmed), plural(card.leads.length, "lead")],
    ["spent", known ? money(costs.reduce((a, b) => a + b, 0)) : "unknown", `${number(tokens)} tokens`],
  ];
}

function gateSection(card) {
  if (!card.gate.rules.length) return null;
  return section("gate", "Gate", "Each rule in the segment where it stands worst.", h("ul.rules", card.gate.rules.map(rule)));
}

function rule(each, place) {
  const [came, low, high] = DATA.current.rules[place];
  const details = [];
  if (each.segment) details.push(`in ${each.segment}${each.segments > 1 ? `, the worst of ${each.segments}` : ""}`);
  if (low) details.push(`with what is missing ${low} to ${high}`);
  if (!missing(each.p_adjusted)) details.push(`p ${each.p_adjusted.toPrecision(2)} (Holm)`);
  if (each.baseline) details.push(`against ${each.baseline}`);
  return h(
    "li",
    verdictWord(each.word),
    h(
      "div",
      h("p", h("code", each.text.replace(/^require /, "")), h("strong.measured", came)),
      details.length ? h("p.note", details.join(" · ")) : null,
      each.reason ? h("p.note", each.reason) : null,
      each.word === "PASS" ? null : h("p.note.place", each.at)
    )
  );
}
