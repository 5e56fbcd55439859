// The licence of every package that esbuild's meta.json says is in the bundle; equal texts stand once.
const fs = require("node:fs");
const inputs = Object.keys(JSON.parse(fs.readFileSync("meta.json", "utf8")).inputs);
const names = new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean));
const texts = new Map();
for (const name of [...names].sort()) {
  const folder = `node_modules/${name}`;
  const version = JSON.parse(fs.readFileSync(`${folder}/package.json`, "utf8")).version;
  const file = fs.readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = fs.readFileSync(`${folder}/${file}`, "utf8").replaceAll("*/", "* /").trim();
  texts.set(text, [...(texts.get(text) || []), `${name} ${version}`]);
}
for (const [text, packages] of texts) console.log(`${packages.join(", ")}\n\n${text}\n`);
