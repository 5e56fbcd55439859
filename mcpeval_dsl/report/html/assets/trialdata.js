// The trials: a list that is there at once, and transcripts that are unpacked when somebody looks.
const DATA = { current: JSON.parse(document.getElementById("data").textContent) };
const TRIALS = { all: [], byId: new Map() };
const UNPACKED = new Map();

function readTrials() {
  const { names, columns, rows } = DATA.current.trials;
  const at = Object.fromEntries(columns.map((column, index) => [column, index]));
  TRIALS.all = rows.map((row, index) => {
    const instance = names.instance[row[at.instance]];
    const cell = names.cell[row[at.cell]];
    const number = row[at.number];
    return {
      index,
      id: `${instance}@${cell}#${number}`,
      instance,
      cell,
      number,
      printed: names.printed[row[at.printed]],
      outcome: names.outcome[row[at.outcome]],
      calls: row[at.calls],
      soft: row[at.soft],
      ms: row[at.ms],
      tokens: row[at.tokens],
      cost: row[at.cost],
      violations: row[at.violations],
      leads: row[at.leads],
    };
  });
  TRIALS.byId = new Map(TRIALS.all.map((trial) => [trial.id, trial]));
}

async function transcript(trial) {
  if (DATA.current.live) {
    const answer = await fetch(`trial?id=${encodeURIComponent(trial.id)}`, { cache: "no-store" });
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return answer.json();
  }
  const place = DATA.current.places[trial.index];
  if (!place) throw new Error(`with it this file would be too large. Look at it with: mcpe view ${DATA.current.run} '${trial.id}', or at all of them with: mcpe view ${DATA.current.run} --serve`);
  const [piece, position] = place;
  if (!UNPACKED.has(piece)) {
    if (UNPACKED.size >= 6) UNPACKED.delete(UNPACKED.keys().next().value);
    UNPACKED.set(piece, unpack(document.getElementById(`piece-${piece}`).textContent));
  }
  return (await UNPACKED.get(piece))[position];
}

async function unpack(text) {
  const packed = atob(text.trim());
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** A link to a call in a trial's transcript. */
function callLink(id, call) {
  if (!TRIALS.byId.has(id)) return h("span", call);
  return h("a.trial", { href: `#trial/${encodeURIComponent(id)}/${encodeURIComponent(call)}`, "aria-label": `${call} of ${id}` }, call);
}

/** A link to a trial's transcript. */
function trialLink(id, text) {
  if (!TRIALS.byId.has(id)) return h("span", text || id);
  return h("a.trial", { href: `#trial/${encodeURIComponent(id)}` }, text || name(id));
}
