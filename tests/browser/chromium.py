"""A real Chromium, and pages in it that tell what went wrong: messages of the console, dialogs, requests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".servers" / "browser"
HELD = ROOT / "build" / "pages"
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
LOOKS: dict[str, dict[str, Any]] = {
    "desktop": {"viewport": {"width": 1280, "height": 860}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "device_scale_factor": 2,
    },
    "dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
}


@contextmanager
def started() -> Iterator[Browser]:
    """Ends with the `with`: playwright keeps an event loop, which no other test may meet."""
    program = shutil.which("chromium")
    assert program is not None, "no chromium: run sh tests/browser/install.sh .servers/browser"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@dataclass(slots=True)
class Opened:
    """A page; `trouble` is what it said to the console and what it threw, `asked` what it wanted beside itself."""

    page: Page
    trouble: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def go(self, place: str) -> Opened:
        """Another place of the same page, once it is there."""
        self.page.evaluate("(place) => { location.hash = place; }", place)
        name = "trials" if place.startswith("trial") else place or "scorecard"
        self.page.wait_for_selector(f"#{name}:not([hidden])")
        if place.startswith("trial/"):
            self.page.locator(".readerhead h2", has_text=f"#{place[-1]}").wait_for()
        return self

    def close(self) -> None:
        self.page.context.close()

    @property
    def overflow(self) -> int:
        """Pixels that the page is wider than its window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - innerWidth"))

    def axe(self) -> list[str]:
        """Serious and critical faults of accessibility, with where they are."""
        self.page.evaluate((PLACE / "node_modules" / "axe-core" / "axe.min.js").read_text("utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"][:3]
        ]

    def hold(self, name: str, whole: bool = True) -> None:
        """A screenshot for people, in build/pages; index.html there shows all of them."""
        HELD.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=HELD / f"{name}.png", full_page=whole)
        pictures = "".join(
            f"<h2>{each.stem}</h2><img src='{each.name}' width='700'>" for each in sorted(HELD.glob("*.png"))
        )
        (HELD / "index.html").write_text(f"<!doctype html><title>The page</title>{pictures}\n", "utf-8")


def opened(browser: Browser, url: str, look: str = "desktop", place: str = "") -> Opened:
    """The page in a window of its own."""
    page = browser.new_context(**LOOKS[look]).new_page()
    page.set_default_timeout(8000)
    page.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1; };")
    found = Opened(page)
    page.on("console", lambda message: found.trouble.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: found.trouble.append(str(error)))
    page.on("request", lambda request: found.asked.append(request.url))
    page.on("dialog", lambda dialog: (found.dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(url + place)
    page.wait_for_selector(".top")
    return found
