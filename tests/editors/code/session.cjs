// session.cjs URL FOLDER: opens main.mcpe in the editor at URL, types, and says what appears; pictures go to FOLDER.
"use strict"
const path = require("path")
const { chromium } = require("playwright-core")

const [address, pictures] = process.argv.slice(2)
const began = Date.now()
const say = (what, more = "") => console.log(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${what} ${more}`)

async function session(page) {
  const appears = (selector) => page.waitForSelector(selector, { timeout: 60_000 })
  const picture = (name) => page.screenshot({ path: path.join(pictures, `code-${name}.png`) })
  const press = (key) => page.keyboard.press(key)
  const type = (text) => page.keyboard.type(text)
  const texts = (selector) => page.$$eval(selector, (all) => all.map((each) => each.textContent.replaceAll("\u00a0", " ")))
  const line = (part, times = 1) =>
    page.waitForFunction(
      ([wanted, least]) =>
        [...document.querySelectorAll(".view-line")].filter((each) =>
          each.textContent.replaceAll("\u00a0", " ").includes(wanted),
        ).length >= least,
      [part, times],
      { timeout: 60_000 },
    )
  const run = async (name) => {
    await press("F1")
    await appears(".quick-input-widget input")
    await type(name)
    await page.waitForTimeout(500)
    await press("Enter")
  }
  const go = async (where) => {
    await press("Control+g")
    await type(where)
    await press("Enter")
  }

  await page.goto(address)
  await appears(".explorer-folders-view .monaco-list-row")
  await page.click('.explorer-folders-view .monaco-list-row[aria-label*="main.mcpe"]', { clickCount: 2 })
  await appears(".codelens-decoration a")
  say("lenses", JSON.stringify(await texts(".codelens-decoration a")))

  await go("7:33")
  await press("Backspace")
  await appears(".squiggly-error")
  await picture("squiggle")
  say("squiggle")
  await press("Control+z")
  await page.waitForFunction(() => !document.querySelector(".squiggly-error"), null, { timeout: 60_000 })
  say("no squiggle")

  await go("7:31")
  for (let count = 0; count < 4; count++) await press("Delete")
  await press("Control+Space")
  await appears(".suggest-widget.visible .monaco-list-row")
  await page.waitForTimeout(500)
  say("menu", JSON.stringify(await page.$$eval(".suggest-widget.visible .monaco-list-row", (all) => all.map((each) => each.ariaLabel))))
  await picture("menu")
  await type("in_")
  await press("Enter")
  await line('status: "in_progress"')
  say("chosen")

  await go("8:20")
  await press("F2")
  await page.waitForFunction(() => document.activeElement?.closest(".rename-box"), null, { timeout: 60_000 })
  await press("Control+a")
  await type("first_issue")
  await press("Enter")
  await line("first_issue", 2)
  await run("File: Save All")
  say("renamed")

  await go("8:1")
  await type("      ")
  await run("Format Document")
  await line("  grade  contains first_issue.key")
  await page.waitForFunction(() => ![...document.querySelectorAll(".view-line")].some((each) => /^\s{8}grade/.test(each.textContent)))
  await picture("formatted")
  say("formatted")

  await run("View: Hide Secondary Side Bar")
  await page.locator(".codelens-decoration a", { hasText: "run this task" }).click({ force: true })
  await appears(".terminal-wrapper")
  await page.waitForTimeout(6_000)
  await picture("terminal")
  say("terminal")
}

async function main() {
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  try {
    await session(page)
  } catch (error) {
    await page.screenshot({ path: path.join(pictures, "code-failed.png") })
    say("failed:", String(error).split("\n")[0])
    process.exitCode = 1
  }
  await browser.close()
}

main()
