// tokens.cjs GRAMMAR: reads JSON texts, one a line, and writes for each what a TextMate engine says of it: lines of [start, end, scope].
"use strict"
const fs = require("fs")
const path = require("path")
const readline = require("readline")
const oniguruma = require("vscode-oniguruma")
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate")

async function main() {
  const wasm = fs.readFileSync(path.join(path.dirname(require.resolve("vscode-oniguruma")), "onig.wasm"))
  await oniguruma.loadWASM(wasm.buffer)
  const registry = new Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(process.argv[2], "utf8"), "grammar.json"),
  })
  const grammar = await registry.loadGrammar("source.mcpe")
  for await (const text of readline.createInterface({ input: process.stdin })) {
    let state = INITIAL
    const lines = JSON.parse(text).map((line) => {
      const found = grammar.tokenizeLine(line, state)
      state = found.ruleStack
      return found.tokens.map((token) => [token.startIndex, token.endIndex, token.scopes.slice(1).join(" ")])
    })
    process.stdout.write(JSON.stringify(lines) + "\n")
  }
}

main()
