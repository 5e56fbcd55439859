// Making elements: data becomes text and nothing else. No other file touches markup.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Control and direction characters as `⟨U+202E⟩`; lines and tabs stay. */
function visible(text) {
  return String(text).replace(HIDDEN, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** `h("div.card", {id: "x", on: {click}}, "text", element, [more])`; null and false are left out. */
function h(what, ...rest) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  const first = rest[0];
  const plain = first && typeof first === "object" && !(first instanceof Node) && !Array.isArray(first);
  if (plain) set(element, rest.shift());
  put(element, rest);
  return element;
}

function set(element, options) {
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [kind, act] of Object.entries(value)) element.addEventListener(kind, act);
    else if (name === "vars") for (const [key, amount] of Object.entries(value)) element.style.setProperty(key, amount);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
}

function put(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) put(element, child);
    else element.append(child instanceof Node ? child : visible(child));
  }
}

function replace(element, ...children) {
  element.replaceChildren();
  put(element, children);
  return element;
}

/** A name that may be broken after its separators. */
function name(text) {
  return visible(text).split(/(?<=[._·+\/@:-])/).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
}

/** A table: `head` and `rows` of texts or elements; columns named in `right` hold numbers. */
function table(head, rows, { right = [], label = "", heads = 0 } = {}) {
  const kind = (index) => (right.includes(index) ? "number" : "");
  const cell = (tag, content, index, extra = {}) =>
    h(`${tag}.${kind(index)}`.replace(/\.$/, ""), extra, typeof content === "string" && !kind(index) ? name(content) : content);
  return h(
    "div.scroll",
    { tabindex: "0", role: "region", "aria-label": label || "table" },
    h(
      "table",
      h("thead", h("tr", head.map((text, i) => cell("th", text, i, { scope: "col" })))),
      h(
        "tbody",
        rows.map((row) =>
          h("tr", row.map((content, i) => (i < heads ? cell("th", content, i, { scope: "row" }) : cell("td", content, i))))
        )
      )
    )
  );
}

function section(id, title, note, ...children) {
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("div.head", h("h2", { id: `${id}-title` }, title), note ? h("p.note", note) : null),
    children
  );
}

/** A figure with its caption, and the same numbers as a table for whoever cannot see it. */
function figure(title, caption, draw, numbers) {
  const place = h("div.chart");
  const made = h(
    "figure",
    h("figcaption", h("strong", title), caption ? h("span", caption) : null),
    place,
    numbers ? h("details.numbers", h("summary", "The same as a table"), numbers) : null
  );
  let width = 0;
  const redraw = () => {
    const now = Math.floor(place.clientWidth);
    if (now < 40 || now === width) return;
    width = now;
    const chart = draw(now);
    for (const part of chart.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label"); // one image, one label
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", visible(`${title}. ${caption || ""}`));
    place.replaceChildren(chart);
  };
  new ResizeObserver(() => requestAnimationFrame(redraw)).observe(place);
  return made;
}

/** A command that can be copied. */
function command(text) {
  const button = h("button.copy", { type: "button", title: "Copy", "aria-label": `Copy: ${text}` }, "copy");
  const code = h("code", text);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "selected";
    }
    setTimeout(() => (button.textContent = "copy"), 1500);
  });
  return h("span.command", code, button);
}
