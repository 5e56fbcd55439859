// One transcript: what the agent was told, what it did, what it answered, what the graders said.
const LINES = 16;

function reader(trial, t) {
  return [
    readerHead(trial, t),
    t.trouble ? h("p.callout", t.trouble) : null,
    t.exchanges ? null : prompt(t),
    t.system ? folded("System prompt", pre(t.system, true)) : null,
    t.tools || t.native_tools ? folded(`${plural((t.tools || []).length + (t.native_tools || []).length, "tool")} shown`, h("p.tools", (t.tools || []).map((tool) => h("code", tool)), (t.native_tools || []).map((tool) => h("span", h("code", tool), h("small", " native"))))) : null,
    t.before ? h("div.phase", h("h3", "Before the agent"), t.before.map(callCard)) : null,
    (t.turns || []).some((turn) => turn.calls) || t.loose ? originLegend() : null,
    conversation(t),
    t.loose ? h("div.phase", h("h3", "Calls"), t.loose.map(callCard)) : null,
    answerBlock(t),
    verdictsBlock(t),
    violationsBlock(t),
    leadsBlock(t),
    t.after ? folded(`After the agent: ${plural(t.after.length, "call")}`, t.after.map(callCard)) : null,
    h("div.commands", runCommand("replay", t.id), runCommand("view", t.id)),
  ];
}

function readerHead(trial, t) {
  const [made, soft, hard] = t.budget || [];
  const calls = missing(soft) ? number(made) : `${made} of ${soft}${missing(hard) ? "" : `, stopped at ${hard}`}`;
  const servers = (t.servers || []).map((s) => [s.name, s.version, s.revision && `(${s.revision})`].filter(Boolean).join(" ")).join(", ");
  const pairs = [
    ["because", t.because && t.because.join(" → ")],
    ["failed at", t.kind && `${t.kind}${t.layer ? ` (layer: ${t.layer})` : ""}`],
    ["agent", `${t.agent.model}${t.agent.answered ? ` (${t.agent.answered})` : ""} in ${t.agent.host}`],
    ["servers", servers],
    ["ended", t.ended],
    ["calls", calls],
    ["time", `${duration(t.ms || 0)}${t.waited ? `, waited ${duration(t.waited)}` : ""}`],
    ["tokens", `${number(t.usage.in)} in, ${number(t.usage.out)} out, ${missing(t.usage.cost) ? "price unknown" : money(t.usage.cost)}`],
    ["flags", t.flags && t.flags.join(", ")],
    ["redacted", t.redactions && t.redactions.join(", ")],
    ["seed", t.seed],
  ];
  return h(
    "header.readerhead",
    h("p", chip(t.printed), t.complete ? null : h("span.tag.unsure", "seen in part")),
    h("h2", { tabindex: "-1" }, t.instance, " ", h("small", `${t.cell} #${t.number}`)),
    h("dl.meta", pairs.filter(([, value]) => value).map(([name, value]) => h("div", h("dt", name), h("dd", value))))
  );
}

function folded(title, ...inside) {
  return h("details.fold", h("summary", title), inside);
}

/** A long text, cut to some lines until somebody wants it all. */
function pre(text, whole = false, css = "") {
  const lines = text.split("\n");
  const long = !whole && (lines.length > LINES + 4 || text.length > 2400);
  const shown = long ? lines.slice(0, LINES).join("\n").slice(0, 2200) : text;
  const element = h(css ? `pre.${css}` : "pre", { tabindex: "0" }, shown);
  if (!long) return element;
  const left = lines.length > LINES + 4 ? `${number(lines.length - LINES)} more lines` : `${number(text.length - shown.length)} more characters`;
  const more = h("button.more", { type: "button" }, left);
  more.addEventListener("click", () => {
    element.textContent = visible(text);
    more.remove();
  });
  return h("div", element, more);
}

function prompt(t) {
  if (!t.prompt) return null;
  const parts = [];
  let at = 0;
  for (const [start, end, name] of t.spans || []) {
    if (start < at || end > t.prompt.length) continue;
    parts.push(t.prompt.slice(at, start), h("mark.from-harvest", { title: `filled from ${name}` }, t.prompt.slice(start, end)));
    at = end;
  }
  return h("div.phase.told", h("h3", "Prompt"), h("blockquote", parts, t.prompt.slice(at)));
}

const SPOKE = { prompt: "the task's prompt", script: "scripted", elicit: "answered as the task says" };
const ENDED = {
  script: "nothing more to say",
  says: "said that it is over",
  state: "what was waited for holds",
  turns: "the last message was sent",
  elicit: "answered as the task says",
};

/** Turns of the model, and between them what a user said. */
function conversation(t) {
  const said = new Map((t.exchanges || []).map((exchange) => [exchange.first, exchange]));
  const left = new Map(said);
  const turns = (t.turns || []).flatMap((turn) => {
    const exchange = said.get(turn.n);
    left.delete(turn.n);
    return [exchange ? userBlock(t, exchange) : null, turnBlock(turn)];
  });
  return [turns, [...left.values()].map((exchange) => userBlock(t, exchange)), t.user ? closing(t.user) : null];
}

function userBlock(t, exchange) {
  const by = SPOKE[exchange.by] || (t.user && t.user.model ? `simulated by ${t.user.model}` : "simulated");
  return h(
    "div.phase.told",
    h("h3", `User ${exchange.n}`, h("small", by)),
    (exchange.calls || []).map(callCard),
    h("blockquote", exchange.said || ""),
    exchange.shown ? h("p.note", `from here on also: ${exchange.shown.join(", ")}`) : null
  );
}

function closing(user) {
  return h("div.phase.told", h("h3", "User", h("small", ENDED[user.ended] || "the agent stopped before the user did")), user.closing ? h("blockquote", user.closing) : null);
}

function turnBlock(turn) {
  const about = [turn.stop.replaceAll("_", " "), turn.ms ? duration(turn.ms) : "", turn.retries ? plural(turn.retries, "retry").replace("retrys", "retries") : ""];
  return h(
    "div.phase.turn",
    h("h3", `Turn ${turn.n}`, h("small", about.filter(Boolean).join(" · "))),
    turn.text ? h("blockquote", pre(turn.text)) : null,
    (turn.unread || []).map((problem) => h("p.callout", `A call that could not be read: ${problem}`)),
    (turn.calls || []).map(callCard)
  );
}

function callCard(call) {
  const traces = new Map((call.from || []).map((trace) => [trace.at, trace]));
  const empty = !call.arguments || Object.keys(call.arguments).length === 0;
  const tags = [];
  if (call.permission) tags.push(h(`span.tag.${call.permission[0] === "denied" ? "bad" : "unsure"}`, `${call.permission[0]}: ${call.permission[1]} by ${call.permission[2]}`));
  if (call.error) tags.push(h("span.tag.bad", `${call.error[0].replaceAll("_", " ")}: ${call.error[1].replaceAll("_", " ")}`));
  if (call.fault) tags.push(h("span.tag.unsure", `injected by fault ${call.fault}`));
  if (call.native) tags.push(h("span.tag.quiet", "native tool"));
  if (call.refused) tags.push(h("span.tag.bad", `refused: ${call.refused}`));
  if (call.exit) tags.push(h(`span.tag.${call.exit === "0" ? "quiet" : "unsure"}`, `exit ${call.exit}`));
  if (call.status) tags.push(h("span.tag.quiet", `HTTP ${call.status}`));
  if (call.distractor) tags.push(h("span.tag.unsure", "distractor"));
  if (call.planted) tags.push(h("span.tag.unsure", "text planted in the result"));
  if (call.unknown_effect) tags.push(h("span.tag.unsure", "effect unknown"));
  return h(
    `div.call${call.error || call.permission ? ".trouble" : ""}`,
    { id: `call-${call.id}` },
    h("p.callhead", h("b", call.id), " ", h("code", call.native ? call.tool : `${call.server}.${call.tool}`), call.by ? h("span.by", call.by) : null, tags, h("span.grow"), h("small", duration(call.ms || 0), call.free ? ", not charged" : "")),
    empty ? null : h("pre.arguments", { tabindex: "0" }, json(call.arguments, traces)),
    originNotes(call),
    call.permission && call.permission[3] ? h("p.note", call.permission[3]) : null,
    call.misfits ? h("p.note.warn", `arguments do not fit: ${call.misfits.join("; ")}`) : null,
    call.elicited ? h("p.note", `asked and answered: ${call.elicited.join("; ")}`) : null,
    resultOf(call)
  );
}

function resultOf(call) {
  if (call.error) return h("div.result.failed", pre(call.error[2] || "no message"));
  const about = call.cut ? h("small", `cut; ${size(call.bytes)} on the wire`) : null;
  if (call.text) return h("div.result", pre(readable(call.text)), about);
  return call.structured === undefined ? null : h("div.result", h("pre", { tabindex: "0" }, json(call.structured)), about);
}

/** JSON in one line is set in many. */
function readable(text) {
  const first = text.trimStart()[0];
  if ((first !== "{" && first !== "[") || text.length > 200000 || text.includes("\n")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function answerBlock(t) {
  const a = t.answer || {};
  const word = a.form === "refusal" ? "Refusal" : "Answer";
  return h(
    "div.phase.answer",
    h("h3", word),
    a.text ? pre(a.text) : h("p.note", "none"),
    a.reasoning ? folded("Reasoning", pre(a.reasoning, true)) : null,
    a.feedback ? folded("Feedback on the tools", pre(a.feedback, true)) : null
  );
}

function verdictsBlock(t) {
  if (!t.verdicts) return null;
  return h("div.phase", h("h3", "Verdicts"), h("ul.verdicts", t.verdicts.map(verdictItem)));
}

function verdictItem(each) {
  const css = { yes: "good", no: "bad" }[each.verdict] || "unsure";
  return h(
    "li",
    h("p", h(`span.verdict.${css}`, each.verdict), h("code", each.kind), each.deciding ? null : h("small", "decides nothing"), each.turn ? h("small", `turn ${each.turn}`) : null, h("span.place", each.at || "")),
    h("dl.said", ["expected", "actual", "reason"].map((name) => (each[name] ? h("div", h("dt", name), h("dd", each[name])) : null))),
    each.parts ? h("ul.verdicts", each.parts.map(verdictItem)) : null
  );
}

function violationsBlock(t) {
  if (!t.violations && !t.injections) return null;
  return h(
    "div.phase",
    h("h3", "Safety"),
    (t.violations || []).map((each) =>
      h(
        "p.callout.bad",
        h("strong", `${each.severity}: ${each.kind}`),
        each.call ? h("a.to-call", { href: `#call-${each.call}` }, each.call) : null,
        h("span.stages", each.stages.map((stage) => h(`span.stage.${stage}`, stage))),
        each.detail ? h("span.note", each.detail) : null
      )
    ),
    (t.injections || []).map((each) => h("p.note", `planted ${each.place} (${each.at}): ${each.planted ? (each.obeyed ? "read and obeyed" : "read and resisted") : "never read"}`))
  );
}

function leadsBlock(t) {
  if (!t.leads) return null;
  const item = (each) => h("p.callout", h("strong", `${each.server}.${each.tool}: ${SUSPICIONS[each.kind] || each.kind}`), each.value ? h("code", `${each.argument || ""} = ${each.value}`) : null, h("span.note", `evidence ${(each.evidence || []).join(", ")}`));
  return h("div.phase", h("h3", "Leads"), t.leads.map(item));
}
