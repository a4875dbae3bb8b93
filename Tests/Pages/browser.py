"""A headless Chromium that looks at the console of a real daemon."""
from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional
from urllib.parse import quote

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian puts python3-selenium

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None  # type: ignore[assignment]

PICTURES = Path(__file__).resolve().parent.parent.parent / "docs" / "pictures"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
AXE = Path(os.environ.get("SILLOK_AXE") or Path(__file__).resolve().parent.parent.parent / ".build" / "pages" / "axe.min.js")


def missing() -> Optional[str]:
    """Why no browser can be had; where PAGES_REQUIRED is set that is no excuse."""
    found = [name for name, there in (("chromium", CHROMIUM), ("chromium-driver", DRIVER), ("python3-selenium", webdriver)) if not there]
    if not found:
        return None
    why = f"pages: skipped, no {', '.join(found)}"
    if os.environ.get("PAGES_REQUIRED"):
        raise SystemExit(why + ", and PAGES_REQUIRED is set")
    return why


class Browser:
    """One tab: a size, a look, a language; what it writes to its console is kept."""

    def __init__(self, base: str, *more: str):
        self.base = base
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--hide-scrollbars", "--lang=ko-KR", *more):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.binary_location = CHROMIUM
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_script_timeout(60)
        self.cdp("Emulation.setTimezoneOverride", timezoneId="Asia/Seoul")
        self.look()

    def quit(self) -> None:
        self.driver.quit()

    def cdp(self, command: str, **values: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, values)

    def look(self, width: int = 1280, height: int = 1000, dark: bool = False, media: str = "") -> None:
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 700)
        self.cdp("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def run(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def all(self, selector: str) -> List[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str, seconds: float = 10) -> Any:
        return self.until(lambda: (self.all(selector) or [None])[0], seconds, selector)

    def text(self, selector: str = "#app") -> str:
        return self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText).join('\\n')", selector)

    def until(self, what: Callable[[], Any], seconds: float = 10, name: str = "") -> Any:
        end = time.monotonic() + seconds
        while True:
            found = what()
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"it did not come: {name}\n{self.text()[:1500]}")
            time.sleep(0.03)

    def login(self, token: str, language: str = "ko", reason: str = "민원 4711") -> None:
        self.driver.get(self.base + "/console/")
        self.driver.delete_all_cookies()
        self.run("localStorage.clear(); sessionStorage.clear(); localStorage.setItem('sillok.language', arguments[0]); sessionStorage.setItem('sillok.reason', arguments[1])", language, reason)
        self.driver.get("about:blank")
        self.driver.get(self.base + "/console/")
        field = self.one("#token")
        field.send_keys(token)
        field.send_keys(Keys.ENTER)
        self.until(lambda: self.all("nav a") or self.all("#reason"), 15, "the navigation")

    def go(self, *parts: str, wait: str = "main h1", **query: Any) -> None:
        """To a page, and until it stands."""
        self.run("const main = document.getElementById('main'); if (main) main.dataset.old = '1'")
        words = "&".join(f"{name}={quote(str(value), safe='')}" for name, value in query.items() if value is not None)
        hash = "#/" + "/".join(quote(part, safe="") for part in parts) + ("?" + words if words else "")
        self.run("if (location.hash === arguments[0]) dispatchEvent(new HashChangeEvent('hashchange')); else location.hash = arguments[0]", hash)
        self.until(lambda: self.run("const main = document.getElementById('main'); return main && !main.dataset.old && document.querySelector(arguments[0]) && !document.querySelector('[aria-busy=true]')", wait), 15, hash)

    def press(self, *keys: str) -> None:
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.driver).send_keys(*keys).perform()

    def picture(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.driver.save_screenshot(str(path))

    def complaints(self) -> List[Dict[str, Any]]:
        """What the browser has reported since, but for answers of the API that are errors."""
        return [line for line in self.driver.get_log("browser") if "Failed to load resource" not in line["message"]]

    def axe(self) -> Dict[str, Any]:
        """What axe-core finds; injected past the policy of the page, which stays on."""
        self.cdp("Runtime.evaluate", expression=AXE.read_text("utf-8"))
        return self.driver.execute_async_script("""
            const done = arguments[0];
            axe.run(document, { resultTypes: ['violations', 'passes'] }).then((found) => done({
              violations: found.violations.map((one) => ({ id: one.id, nodes: one.nodes.slice(0, 5).map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? '')) })),
              contrast: found.passes.filter((one) => one.id === 'color-contrast').flatMap((one) => one.nodes).length,
            }), (error) => done({ violations: [{ id: String(error), nodes: [] }], contrast: 0 }));""")
