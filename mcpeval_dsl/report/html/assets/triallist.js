// All trials: a list that draws only what is in sight, with filters, and the keyboard.
const SORTS = {
  plan: ["plan order", (a, b) => a.index - b.index],
  calls: ["most calls", (a, b) => b.calls - a.calls],
  time: ["longest", (a, b) => b.ms - a.ms],
  cost: ["dearest", (a, b) => (b.cost ?? -1) - (a.cost ?? -1) || b.tokens - a.tokens],
};
const ROW = 48;

class TrialList {
  constructor(open) {
    this.open = open;
    this.shown = [];
    this.selected = -1;
    this.filter = { text: "", outcomes: new Set(), cell: "", only: "", sort: "plan" };
    this.search = h("input", { type: "search", id: "search", placeholder: "Filter trials", "aria-label": "Filter trials by name", autocomplete: "off", spellcheck: "false" });
    this.search.addEventListener("input", () => this.change({ text: this.search.value.toLowerCase() }));
    this.chips = h("div.filters", { role: "group", "aria-label": "Outcomes" });
    this.cells = h("select", { "aria-label": "Cell", on: { change: (e) => this.change({ cell: e.target.value }) } });
    this.only = h("select", { "aria-label": "Only trials with", on: { change: (e) => this.change({ only: e.target.value }) } }, [["", "all trials"], ["violations", "with a violation"], ["leads", "with a lead"], ["over", "over budget"]].map(([value, name]) => h("option", { value }, name)));
    this.sort = h("select", { "aria-label": "Order", on: { change: (e) => this.change({ sort: e.target.value }) } }, Object.entries(SORTS).map(([value, [name]]) => h("option", { value }, name)));
    this.count = h("p.count", { role: "status" });
    this.space = h("div.space");
    this.box = h("div.rows", { role: "listbox", tabindex: "0", "aria-label": "Trials", id: "rows" }, this.space);
    this.box.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.element = h("div.list", h("div.tools", h("div.searchline", this.search, h("kbd", "/")), this.chips, h("div.selects", this.cells, this.only, this.sort)), this.count, this.box);
  }

  /** After the trials have changed; the selection stays on its trial. */
  refresh() {
    const cells = [...new Set(TRIALS.all.map((trial) => trial.cell))];
    replace(this.cells, h("option", { value: "" }, "all cells"), cells.map((cell) => h("option", { value: cell }, cell)));
    this.cells.value = this.filter.cell;
    this.cells.hidden = cells.length < 2;
    const counts = new Map();
    for (const trial of TRIALS.all) {
      const { css } = outcomeOf(trial.printed);
      counts.set(css, (counts.get(css) || 0) + 1);
    }
    replace(
      this.chips,
      OUTCOMES.filter((each) => counts.has(each.css)).map((each) =>
        h("button", { type: "button", "aria-pressed": String(this.filter.outcomes.has(each.css)), title: each.name, on: { click: () => this.toggle(each.css) } }, glyph(each), h("span", each.name), h("b", number(counts.get(each.css))))
      )
    );
    this.change({});
  }

  toggle(css) {
    const { outcomes } = this.filter;
    if (!outcomes.delete(css)) outcomes.add(css);
    this.refresh();
  }

  change(what) {
    const kept = this.current();
    Object.assign(this.filter, what);
    const { text, outcomes, cell, only, sort } = this.filter;
    const words = text.split(/\s+/).filter(Boolean);
    const fits = (trial) =>
      (!cell || trial.cell === cell) &&
      (!outcomes.size || outcomes.has(outcomeOf(trial.printed).css)) &&
      (!only || (only === "over" ? trial.soft && trial.calls > trial.soft : trial[only] > 0)) &&
      words.every((word) => trial.id.toLowerCase().includes(word));
    this.shown = TRIALS.all.filter(fits);
    if (sort !== "plan") this.shown.sort(SORTS[sort][1]);
    this.selected = kept ? this.shown.indexOf(kept) : -1;
    const leftOut = DATA.current.places.filter((place) => !place).length;
    const listed = this.shown.length === TRIALS.all.length ? plural(this.shown.length, "trial") : `${number(this.shown.length)} of ${plural(TRIALS.all.length, "trial")}`;
    this.count.textContent = leftOut ? `${listed}; ${plural(leftOut, "transcript")} left out, see mcpe view --serve` : listed;
    this.space.style.height = `${this.shown.length * ROW}px`;
    this.draw();
  }

  current() {
    return this.shown[this.selected] || null;
  }

  /** Marks a trial, and brings it into sight. */
  select(index) {
    if (!this.shown.length) return;
    this.selected = Math.max(0, Math.min(this.shown.length - 1, index));
    const top = this.selected * ROW;
    const { scrollTop, clientHeight } = this.box;
    const hidden = Math.max(scrollTop - top, top + ROW - scrollTop - clientHeight);
    if (hidden > 2 * ROW) this.box.scrollTop = top - (clientHeight - ROW) / 2;
    else if (hidden > 0) this.box.scrollTop += top < scrollTop ? -hidden : hidden;
    this.draw();
  }

  selectTrial(trial) {
    if (!this.shown.includes(trial)) {
      this.search.value = "";
      Object.assign(this.filter, { text: "", outcomes: new Set(), cell: "", only: "" });
      this.only.value = "";
      this.refresh();
    }
    this.select(this.shown.indexOf(trial));
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 6);
    const last = Math.min(this.shown.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + 6);
    const rows = [];
    for (let i = first; i < last; i += 1) rows.push(this.row(this.shown[i], i));
    this.space.replaceChildren(...rows);
    if (this.selected >= first && this.selected < last) this.box.setAttribute("aria-activedescendant", `row-${this.selected}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  row(trial, index) {
    const outcome = outcomeOf(trial.printed);
    const marks = [trial.violations ? h("span.mini.bad", { title: plural(trial.violations, "violation") }, "▲") : null, trial.leads ? h("span.mini.unsure", { title: plural(trial.leads, "lead") }, "◆") : null];
    return h(
      "div.row",
      {
        role: "option",
        id: `row-${index}`,
        "aria-selected": String(index === this.selected),
        "aria-posinset": String(index + 1),
        "aria-setsize": String(this.shown.length),
        vars: { top: `${index * ROW}px` },
        on: { click: () => (this.select(index), this.open(trial)) },
      },
      glyph(outcome),
      h("span.name", h("span", trial.instance, h("i", `#${trial.number}`)), h("small", trial.cell, h("span.sr", `, ${outcome.name}`))),
      h("span.marks", marks),
      h("span.figures", h("span", missing(trial.soft) ? `${trial.calls} calls` : `${trial.calls}/${trial.soft} calls`), h("small", duration(trial.ms)))
    );
  }
}
