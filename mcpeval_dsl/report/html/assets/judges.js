// How far each judge is to be believed: what it says of answers that people have judged, and where it says something else.
const MEASURED_OF_JUDGES = [
  ["agreement", "agreement", "says what people say"],
  ["kappa", "Cohen's κ", "agreement beyond chance"],
  ["sensitivity", "sensitivity", "passes what people pass"],
  ["specificity", "specificity", "fails what people fail"],
];

function judgesSection(card) {
  const judges = card.judges || [];
  if (!judges.length) return null;
  return section("judges", "Judges", "Measured on answers that people have judged. A gate may rest on a judge whose κ is shown to reach 0.6.", judges.map(judgeCard));
}

function standing(row) {
  if (!row.believed) return ["bad", "not believed"];
  return row.decides ? ["good", "decides gates"] : ["unsure", "grades only"];
}

const FOLLOWS = {
  "not believed": "Its verdicts count as missing",
  "grades only": "Its verdicts count; no gate rests on it",
  "decides gates": "Gates may rest on it",
};

function judgeCard(row) {
  const [css, word] = standing(row);
  const how = [row.model, row.repeats > 1 ? `asked ${row.repeats} times` : "", row.second ? `with ${row.second}` : ""];
  return h(
    "article.card",
    h("div.title", h(`span.tag.${css}`, word), h("h3", h("code", row.judge)), h("span.grow", how.filter(Boolean).join(" · "))),
    h("p", `${FOLLOWS[word]}${row.reason ? `: ${row.reason}` : ""}.`),
    row.agreement || row.kappa ? h("div.pair", measuresOfJudge(row), againstPeople(row)) : null,
    row.labels ? h("p.note", ofLabels(row)) : null,
    row.verdicts ? h("p.note", ofTrials(row)) : null,
    missesOf(row),
    row.at ? h("p.place", row.at) : null
  );
}

function measuresOfJudge(row) {
  const rows = MEASURED_OF_JUDGES.map(([key, name, about]) => {
    const at = row[key];
    const plain = key === "kappa";
    const bounds = !at ? "–" : !plain || missing(at.low) || missing(at.high) ? range(at.low, at.high) : `${at.low.toFixed(2)} – ${at.high.toFixed(2)}`;
    return [h("span", name, h("small", about)), at ? (plain ? at.value.toFixed(2) : percent(at.value)) : "unknown", bounds, at ? number(at.of) : "–"];
  });
  return table(["", "value", "95 %", "answers"], rows, { right: [1, 2, 3], heads: 1, label: `How far ${row.judge} is to be believed` });
}

function againstPeople(row) {
  const rows = [["people: pass", number(row.both_pass), number(row.only_people)], ["people: fail", number(row.only_judge), number(row.both_fail)]];
  return table(["", "judge: pass", "judge: fail"], rows, { right: [1, 2], heads: 1, label: `${row.judge} and people` });
}

function ofLabels(row) {
  const parts = [`${number(row.unknown)} left open`, `${number(row.failed)} could not be asked about`];
  if (row.repeats > 1) parts.push(`repeats disagree on ${number(row.repeats_disagree)}`);
  if (row.second) parts.push(`the two judges disagree on ${number(row.judges_disagree)}`);
  const least = missing(row.threshold) ? "" : ` For its verdicts to count, κ is to be at least ${row.threshold}.`;
  return `Of ${plural(row.labels, "labelled answer")}: ${parts.join(", ")}.${least} Cost of measuring: ${money(row.calibration_cost_usd)}.`;
}

function ofTrials(row) {
  const parts = [`${number(row.missing)} missing`];
  if (row.repeats > 1) parts.push(`repeats disagree in ${number(row.trials_repeats_disagree)}`);
  if (row.second) parts.push(`the two judges disagree in ${number(row.trials_judges_disagree)}`);
  return `Of ${plural(row.verdicts, "verdict")} on trials: ${parts.join(", ")}.`;
}

function missesOf(row) {
  if (!row.misses.length) return null;
  const all = row.only_judge + row.only_people;
  const rows = row.misses.map((miss) => [h("span.place", `${row.file}:${miss.line}`), miss.people, miss.judge, miss.claim, miss.answer, miss.reason]);
  const title = `${plural(all, "answer")} on which people say something else${all > row.misses.length ? `, the first ${row.misses.length}` : ""}`;
  return folded(title, table(["line", "people", "judge", "claim", "answer", "reason of the judge"], rows, { label: `Where ${row.judge} and people differ` }));
}
