// The page: three views, where the address leads, the keyboard, the theme, and a run that goes on.
const VIEWS = [["scorecard", "Scorecard"], ["trials", "Trials"], ["method", "Method"]];
const SMALL = matchMedia("(max-width: 820px)");
const view = { scorecard: h("main.view", { id: "scorecard" }), trials: h("main.view.workspace", { id: "trials" }), method: h("main.view", { id: "method" }) };
const tabs = Object.fromEntries(VIEWS.map(([name, title]) => [name, h("a", { href: `#${name}` }, title)]));
const state = h("p.state", { role: "status" });
const readerPane = h("article.reader", { "aria-label": "Transcript", tabindex: "-1" });
const list = new TrialList((trial) => go(`trial/${encodeURIComponent(trial.id)}`));
let opened = null;

function go(where) {
  if (location.hash === `#${where}`) route();
  else location.hash = where;
}

function route() {
  const hash = location.hash.slice(1);
  if (hash.startsWith("trial/")) {
    const [id, call] = hash.slice(6).split("/").map(decodeURIComponent);
    const trial = TRIALS.byId.get(id);
    show("trials");
    if (trial) openTrial(trial, call);
    return;
  }
  if (hash.startsWith("call-")) return;
  const name = view[hash] ? hash : "scorecard";
  const place = view[hash] ? null : document.getElementById(hash);
  const holder = place && place.closest(".view");
  show(holder ? holder.id : name);
  document.body.classList.remove("reading");
  if (place) place.scrollIntoView();
  else scrollTo(0, 0);
}

function show(name) {
  for (const [other] of VIEWS) {
    view[other].hidden = other !== name;
    if (other === name) tabs[other].setAttribute("aria-current", "page");
    else tabs[other].removeAttribute("aria-current");
  }
  document.body.dataset.view = name;
  if (name === "trials") list.draw();
}

/** With `call`, the transcript is opened at that call. */
async function openTrial(trial, call) {
  opened = trial;
  document.body.classList.add("reading");
  list.selectTrial(trial);
  let inside;
  try {
    const told = await transcript(trial);
    inside = opened === trial ? reader(trial, told) : null;
  } catch (error) {
    inside = h("p.callout", `This transcript cannot be shown: ${error.message}`);
  }
  if (opened !== trial || inside === null) return;
  const back = h("button.back", { type: "button", on: { click: closeTrial } }, "← All trials");
  replace(readerPane, back, inside);
  readerPane.scrollTop = 0;
  if (SMALL.matches) readerPane.focus({ preventScroll: true });
  if (call) showCall(`call-${call}`);
}

function showCall(id) {
  const call = document.getElementById(id);
  if (!call) return;
  const folded = call.closest("details");
  if (folded) folded.open = true;
  call.scrollIntoView({ block: "center" });
  call.classList.add("found");
  setTimeout(() => call.classList.remove("found"), 1600);
}

function closeTrial() {
  document.body.classList.remove("reading");
  opened = null;
  history.replaceState(null, "", "#trials");
  replace(readerPane, h("div.empty", h("p", "Choose a trial."), keys()));
  list.box.focus({ preventScroll: true });
}

function keys() {
  const all = [["j k", "next, previous"], ["Enter", "open"], ["/", "filter"], ["Esc", "back"]];
  return h("dl.keys", all.map(([key, what]) => h("div", h("dt", key.split(" ").map((each) => h("kbd", each))), h("dd", what))));
}

function move(step) {
  list.select(list.selected < 0 ? 0 : list.selected + step);
  const trial = list.current();
  if (trial && !SMALL.matches) {
    history.replaceState(null, "", `#trial/${encodeURIComponent(trial.id)}`);
    openTrial(trial);
  }
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "/" && !typing) {
    event.preventDefault();
    if (document.body.dataset.view !== "trials") go("trials");
    show("trials");
    if (SMALL.matches && opened) closeTrial();
    list.search.focus();
    list.search.select();
    return;
  }
  if (document.body.dataset.view !== "trials") return;
  if (typing) {
    if (event.key === "Escape" || event.key === "Enter") {
      event.preventDefault();
      list.box.focus();
      if (event.key === "Enter" && event.target === list.search && list.shown.length) list.open(list.shown[Math.max(0, list.selected)]);
    }
    return;
  }
  const inList = event.target === list.box || event.target === document.body;
  const step = { j: 1, k: -1, ...(inList ? { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 } : {}) }[event.key];
  if (step) {
    event.preventDefault();
    move(step);
  } else if (event.key === "Enter" && inList && list.current()) {
    event.preventDefault();
    list.open(list.current());
    readerPane.focus({ preventScroll: true });
  } else if (event.key === "Escape" && opened) {
    closeTrial();
  }
}

function fill() {
  const { card, timings } = DATA.current;
  readTrials();
  const parts = [
    gateSection(card),
    outcomesSection(card, timings),
    matrixSection(card),
    ...comparisonSections(card),
    chartsSection(card),
    judgesSection(card),
    checksSection(card),
    defectsSection(card),
    safetySection(card),
    failuresSection(card),
    untestedSection(card),
    findingsSection(card),
  ].filter(Boolean);
  replace(view.scorecard, hero(card), h("nav.contents", { "aria-label": "On this page" }, parts.map((part) => h("a", { href: `#${part.id}` }, part.querySelector("h2").textContent))), parts);
  replace(view.method, methodView(card));
  tabs.trials.replaceChildren("Trials", h("b", number(TRIALS.all.length)));
  list.refresh();
  replace(state, liveState(card));
}

function liveState(card) {
  if (!DATA.current.live) return null;
  const share = card.planned ? card.recorded / card.planned : 0;
  const done = card.recorded >= card.planned;
  return [h(`span.pulse${done ? ".done" : ""}`), h("span", done ? "finished" : `${number(card.recorded)} of ${number(card.planned)}`), h("progress", { max: "1", value: String(share), "aria-label": "Trials on record" })];
}

/** A watched run: asks what there is, and draws again when it is more. */
async function watch() {
  let version = null;
  for (;;) {
    try {
      const answer = await (await fetch("state", { cache: "no-store" })).json();
      if (version !== null && answer.version !== version) {
        DATA.current = await (await fetch("data", { cache: "no-store" })).json();
        const at = scrollY;
        fill();
        scrollTo(0, at);
      }
      version = answer.version;
    } catch {
      replace(state, h("span.pulse.done"), h("span", "no longer watched: mcpe view has ended"));
      return;
    }
    await new Promise((resume) => setTimeout(resume, 1500));
  }
}

function themeButton() {
  const button = h("button.theme", { type: "button", title: "Light or dark" }, "◐");
  button.setAttribute("aria-label", "Change between light and dark");
  button.addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.dataset.theme = dark ? "light" : "dark";
  });
  return button;
}

view.trials.append(list.element, readerPane);
replace(readerPane, h("div.empty", h("p", "Choose a trial."), keys()));
document.body.append(
  h("a.skip", { href: "#scorecard" }, "To the scorecard"),
  h("header.top", h("a.brand", { href: "#scorecard" }, h("b", "mcpe"), h("span", DATA.current.card.suite)), h("nav", { "aria-label": "Views" }, Object.values(tabs)), state, themeButton()),
  view.scorecard,
  view.trials,
  view.method
);
readerPane.addEventListener("click", (event) => {
  const link = event.target.closest("a.to-call");
  if (!link) return;
  event.preventDefault();
  showCall(link.getAttribute("href").slice(1));
});
addEventListener("hashchange", route);
addEventListener("keydown", onKey);
fill();
route();
if (DATA.current.live) watch();
