// Arguments and results as JSON; each argument is marked by where the agent could have got it from.
const ORIGINS = {
  prompt: ["from-prompt", "the prompt"],
  system: ["from-prompt", "the prompt"],
  harvest: ["from-harvest", "a harvest"],
  result: ["from-result", "a result"],
  native: ["from-result", "a result"],
  instructions: ["from-server", "the server's own words"],
  catalogue: ["from-server", "the server's own words"],
  schema: ["from-server", "the server's own words"],
  invented: ["from-nowhere", "invented"],
};
const UNKNOWN = ["from-unknown", "cannot be said"];

function originOf(trace) {
  return ORIGINS[trace.origin] || UNKNOWN;
}

function originLegend() {
  const seen = new Map([...Object.values(ORIGINS), UNKNOWN]);
  return h("p.legend.origins", { "aria-label": "Where arguments came from" }, h("span", "arguments from"), [...seen].map(([css, name]) => h(`span.value.${css}`, name)));
}

/** A value as lines of JSON; `traces` by JSON pointer. */
function json(value, traces = new Map(), pointer = "", indent = 0) {
  const pad = "  ".repeat(indent + 1);
  const end = "  ".repeat(indent);
  const step = (key) => `${pointer}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (Array.isArray(value) || (value && typeof value === "object")) {
    const list = Array.isArray(value);
    const entries = list ? value.map((item, i) => [i, item]) : Object.entries(value);
    if (!entries.length) return h("span", list ? "[]" : "{}");
    const lines = entries.map(([key, item], i) => [
      pad,
      list ? null : h("span.key", JSON.stringify(key)),
      list ? null : ": ",
      json(item, traces, step(key), indent + 1),
      i < entries.length - 1 ? ",\n" : "\n",
    ]);
    return h("span", list ? "[" : "{", "\n", lines, end, list ? "]" : "}");
  }
  const text = JSON.stringify(value);
  const trace = traces.get(pointer);
  if (!trace) return h("span.value", text);
  const [css, name] = originOf(trace);
  const how = trace.verdict === "derived" ? ".derived" : "";
  return h(`span.value.${css}${how}`, { title: `${name}: ${trace.said}` }, text);
}

/** What is worth a line below a call: values from elsewhere than plain sight. */
function originNotes(call) {
  const worth = (call.from || []).filter((trace) => trace.vouch || ["invented", "derived"].includes(trace.verdict) || trace.origin === "result" || trace.origin === "harvest");
  return worth.length ? h("ul.notes", worth.map((trace) => h("li", h("code", trace.at), " ", trace.call ? h("a", { href: `#call-${trace.call}`, class: "to-call" }, trace.said) : trace.said))) : null;
}
