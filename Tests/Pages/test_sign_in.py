"""The form of an identity provider in a browser, and the chat with the token that it gives: a password is hidden, buttons wait for both fields."""
from __future__ import annotations

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from browser import Browser, missing

ROOT = Path(__file__).resolve().parent.parent.parent
os.environ.setdefault("SILLOK_BIN", str(ROOT / ".build" / "debug"))
sys.path[1:1] = [str(ROOT / "Tests" / "Acceptance"), str(ROOT / "Tests" / "Acceptance" / "systems")]

from issuer import TEXTS, Issuer  # noqa: E402
from node import Client, Node, clean  # noqa: E402


def setUpModule() -> None:
    unittest.addModuleCleanup(clean)
    why = missing()
    if why:
        print(why)
        raise unittest.SkipTest(why)


class SignInTests(unittest.TestCase):
    def test_a_password_is_hidden_and_buttons_wait_for_both_fields(self) -> None:
        folder = Path(tempfile.mkdtemp(prefix="sillok-sign-in-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        issuer = Issuer(str(folder / "issuer")).serve()
        self.addCleanup(issuer.stop)
        browser = Browser(issuer.issuer)
        self.addCleanup(browser.quit)
        browser.driver.get(issuer.issuer + "/sign-in")
        address, password, show = (browser.one(f"#{name}") for name in ("address", "password", "show"))

        def disabled() -> list[bool]:
            return [not browser.one(f"#{name}").is_enabled() for name in ("sign-in", "sign-up", "reset")]

        def value(of: str) -> str:
            return browser.run("return document.getElementById(arguments[0]).value", of)
        self.assertEqual((password.get_attribute("type"), disabled()), ("password", [True, True, True]))
        # A blank before it is dropped, and is no text.
        address.send_keys("  ")
        self.assertEqual((value("address"), disabled()), ("", [True, True, True]))
        address.send_keys(" boram@drbot.example")
        self.assertEqual((value("address"), disabled()), ("boram@drbot.example", [True, True, False]))
        password.send_keys(" 열려라 1234")
        self.assertEqual((value("password"), disabled()), ("열려라 1234", [False, False, False]))
        show.click()
        self.assertEqual((password.get_attribute("type"), show.get_attribute("aria-pressed")), ("text", "true"))
        show.click()
        self.assertEqual((password.get_attribute("type"), show.get_attribute("aria-pressed")), ("password", "false"))
        address.clear()
        browser.run("document.getElementById('address').dispatchEvent(new Event('input'))")
        self.assertEqual(disabled(), [True, True, True])
        address.send_keys("boram@drbot.example")
        # Each failure has its text, in the browser's language, and after signing up one signs in.
        browser.one("#sign-in").click()
        browser.until(lambda: browser.text("[role=status]") in TEXTS["E_CREDENTIALS"])
        browser.one("#sign-up").click()
        browser.until(lambda: browser.text("[role=status]") in TEXTS["signed up"])
        self.assertEqual((value("password"), disabled()), ("", [True, True, False]))
        password.send_keys("열려라 1234")
        browser.one("#sign-in").click()
        token = browser.until(lambda: browser.run("return document.getElementById('token').textContent"))
        # With that token the chat knows who it is.
        node = Node("sign-in", tcp=True, settings=issuer.settings())
        self.addCleanup(node.kill)
        [account] = issuer.accounts.values()
        self.assertEqual(Client(node, token, "127.0.0.1").json("GET", "/v1/me")[1]["actor"], f"JWT:{account['subject']}:idp")
        browser.driver.get(f"http://127.0.0.1:{node.api}/chat/")
        field = browser.one("#token")
        self.assertEqual(field.get_attribute("type"), "password")
        field.send_keys(token + "\n")
        browser.one(".rooms")
