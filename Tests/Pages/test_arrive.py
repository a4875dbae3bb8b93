"""The subway alarm in a browser, against a real gateway and a real node: five steps, a timer, and what is in the record of it."""
from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any, Dict, List

from browser import AXE, PICTURES, Browser, missing

ROOT = Path(__file__).resolve().parent.parent.parent
BINARIES = Path(os.environ.get("SILLOK_BIN") or ROOT / ".build" / "debug")
sys.path.insert(0, str(ROOT / "Tests" / "Clients"))

from daemon import Daemon, until  # noqa: E402

# One minute from a to d: the bell rings at b. Three stops, the shortest trip that has an alarm.
STATIONS = """{ city: [[0, "대구"], [1, "부산"]], line: [[0, 1, "1호선"], [0, 2, "2호선"], [1, 1, "1호선"]],
  station: [[0, 1, 0, "설화명곡", 0], [0, 1, 1, "화원", %s], [0, 1, 2, "대곡", 10], [0, 1, 3, "진천", 12], [0, 1, 4, "월배", 14],
            [0, 2, 0, "문양", 0], [0, 2, 1, "다사", 2], [1, 1, 0, "노포", 0], [1, 1, 1, "범어사", 2]] }"""


def setUpModule() -> None:
    why = missing()
    if why:
        print(why)
        raise unittest.SkipTest(why)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ArriveTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="sillok-arrive-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.node = Daemon(cls.folder, "n")
        cls.addClassCleanup(cls.node.kill)
        cls.bases: Dict[str, str] = {}
        for name, minutes in (("now", "0"), ("minute", "1")):
            cls.bases[name] = cls.served(name, STATIONS % minutes)
        cls.browser = Browser(cls.bases["now"])
        cls.addClassCleanup(cls.browser.quit)

    @classmethod
    def served(cls, name: str, stations: str) -> str:
        port = free_port()
        data, config = cls.folder / f"{name}.data.json5", cls.folder / f"{name}.json5"
        data.write_text(stations, "utf-8")
        config.write_text(json.dumps({"listen": "127.0.0.1:0", "web": f"127.0.0.1:{port}", "api": {"url": cls.node.base}, "data": str(data), "patience": "500ms"}), "utf-8")
        log = open(cls.folder / f"{name}.log", "ab")
        process = subprocess.Popen([str(BINARIES / "sillok-gateway"), "run", "--config", str(config)], stdout=log, stderr=log)
        cls.addClassCleanup(lambda: (process.kill(), process.wait(), log.close()))
        until(lambda: socket.create_connection(("127.0.0.1", port), 1).close() is None, 20, OSError)
        return f"http://127.0.0.1:{port}"

    def setUp(self) -> None:
        self.browser.look(390, 844)
        self.start()

    def tearDown(self) -> None:
        self.assertEqual(self.browser.complaints(), [])

    def start(self, which: str = "now", language: str = "ko") -> None:
        self.browser.driver.get(self.bases[which] + "/arrive/")
        self.browser.run("localStorage.clear(); localStorage.setItem('sillok.language', arguments[0])", language)
        self.browser.driver.refresh()
        self.browser.one("input[name=choice]")
        self.browser.complaints()

    def choose(self, name: str) -> None:
        self.browser.one(f"input[value='{name}']").click()
        self.forward()

    def forward(self) -> None:
        before = self.browser.text("main h1")
        self.browser.one("#next").click()
        self.browser.until(lambda: self.browser.text("main h1") != before or self.browser.all("dialog[open], .fault"), 15, "the next step")

    def trip(self, *names: str) -> None:
        for name in names:
            self.choose(name)

    def shown(self) -> List[str]:
        return [one.get_attribute("value") for one in self.browser.all("input[name=choice]")]

    def alarms(self) -> List[Dict[str, Any]]:
        events = [json.loads(line) for line in self.node.ctl("export").splitlines()]
        return [event for event in events if event["type"].startswith("alarm.")]

    def label(self) -> str:
        return self.browser.one("#alarm").text

    def test_s3_16_the_states_of_the_timer_and_three_events_in_order(self) -> None:
        before = len(self.alarms())
        self.trip("대구", "1호선", "설화명곡", "진천")
        self.assertEqual(self.browser.one("#state").text, "가는 중")
        self.assertIn("도착 2정거장 전에 알려드릴게요", self.browser.text("main"))
        self.assertEqual(self.label(), "알람 설정")
        self.assertIn("화원", self.browser.text("main"))
        self.browser.one("#alarm").click()
        self.browser.until(lambda: self.label() == "알람 끄기", 10, "the bell")
        self.assertEqual((self.browser.one("#state").text, self.browser.one("#left").text), ("2정거장 전", "타이머 종료"))
        self.browser.one("#alarm").click()
        self.browser.until(lambda: self.label() == "시작 화면", 5)
        alarms = until(lambda: len(self.alarms()) == before + 3 and self.alarms()[before:], 10)
        self.assertEqual([event["type"] for event in alarms], ["alarm.set", "alarm.rang", "alarm.stopped"])
        self.assertTrue(all(event["cause"] == alarms[0]["id"] for event in alarms[1:]))
        self.browser.one("#alarm").click()
        self.browser.until(lambda: self.shown() == ["대구", "부산"], 5, "the first step")

    def test_s3_15_one_minute_rings_after_sixty_seconds_in_a_hidden_tab(self) -> None:
        self.start("minute")
        self.trip("대구", "1호선", "설화명곡", "진천")
        set_at = time.time()
        first = self.browser.driver.current_window_handle
        self.browser.one("#alarm").click()
        self.browser.until(lambda: self.label() == "알람 설정 완료", 5)
        self.assertFalse(self.browser.one("#alarm").is_enabled())
        self.assertRegex(self.browser.one("#left").text, r"^(0분 5\d초|1분 00초)$")
        # Another tab is looked at until it has rung; the record says when.
        count = len(self.alarms())
        self.browser.driver.switch_to.new_window("tab")
        self.browser.driver.get("about:blank")
        try:
            rang = until(lambda: len(self.alarms()) > count and self.alarms()[-1], 75)
            self.assertEqual(rang["type"], "alarm.rang")
            self.assertAlmostEqual(time.time() - set_at, 60, delta=2.5)
        finally:
            self.browser.driver.close()
            self.browser.driver.switch_to.window(first)
        set_event = next(event for event in self.alarms() if event["id"] == rang["cause"])
        moment = lambda event: sum(float(part) * scale for part, scale in zip(event["time"][11:23].split(":"), (3600, 60, 1)))
        self.assertAlmostEqual((moment(rang) - moment(set_event)) % 86400, 60, delta=1)
        self.assertEqual(self.label(), "알람 끄기")

    def test_s3_17_within_two_stops_a_dialogue_leads_back_and_choices_stay(self) -> None:
        before = len(self.alarms())
        self.trip("대구", "1호선", "설화명곡", "대곡")
        self.browser.one("dialog[open] h2")
        self.assertIn("두 정거장", self.browser.text("dialog"))
        self.browser.one("dialog button").click()
        self.browser.until(lambda: "어디서 타시나요" in self.browser.text("main h1"), 5)
        self.assertTrue(self.browser.run("return document.querySelector('input:checked').value") == "설화명곡")
        self.forward()
        self.assertTrue(self.browser.run("return document.querySelector('input:checked').value") == "대곡")
        self.assertEqual(len(self.alarms()), before)
        self.choose("월배")
        self.assertEqual(self.label(), "알람 설정")

    def test_back_keeps_choices_and_another_city_forgets_them(self) -> None:
        self.trip("대구", "1호선", "설화명곡")
        for step in ("어디서 타시나요", "몇 호선", "어느 지역"):
            self.browser.one("#back").click()
            self.browser.until(lambda: step in self.browser.text("main h1"), 5, step)
        self.assertEqual(self.browser.run("return document.querySelector('input:checked').value"), "대구")
        self.choose("부산")
        self.assertEqual(self.shown(), ["1호선"])
        self.assertEqual(self.browser.all("input:checked"), [])

    def test_by_keyboard_alone(self) -> None:
        from selenium.webdriver.common.keys import Keys
        self.browser.until(lambda: self.browser.all("input[name=choice]"), 5)
        self.browser.run("document.querySelector('input[name=choice]').focus()")
        for _ in range(2):
            self.browser.press(Keys.SPACE, Keys.ENTER)
            heading = self.browser.text("main h1")
            self.browser.until(lambda: self.browser.text("main h1") == heading or True, 1)
            time.sleep(0.3)
            self.browser.press(Keys.TAB)
        self.browser.press(Keys.SPACE, Keys.ENTER)
        self.browser.until(lambda: "어디서 내리시나요" in self.browser.text("main h1"), 5, "the goal")
        self.browser.press(Keys.TAB, Keys.SPACE, *[Keys.ARROW_DOWN] * 3, Keys.ENTER)
        self.browser.until(lambda: self.browser.all("#alarm"), 5, "the timer")
        # What has the focus is told, and the button is the next thing but one.
        self.browser.press(Keys.TAB, Keys.TAB, Keys.ENTER)
        self.browser.until(lambda: self.label() == "알람 끄기", 10, "the bell")

    def test_a_node_that_is_away_is_told_and_asked_again(self) -> None:
        self.browser.one("input[value='대구']").click()
        self.node.stop()
        try:
            self.browser.one("#next").click()
            self.browser.one(".fault[role=alert]", 10)
            self.assertIn("기록할 수 없어", self.browser.text(".fault"))
        finally:
            self.node.start()
        self.forward()
        self.assertEqual(self.shown(), ["1호선", "2호선"])

    @unittest.skipUnless(AXE.exists(), "pages: axe-core is not there")
    def test_axe_finds_nothing(self) -> None:
        for language in ("ko", "en"):
            for width, dark in ((320, False), (390, True), (1280, False)):
                self.browser.look(width, 844, dark)
                self.start(language=language)
                for step in (None, "대구", "1호선", "설화명곡", "진천"):
                    if step:
                        self.choose(step)
                    found = self.browser.axe()
                    self.assertEqual(found["violations"], [], (language, width, dark, step))
                    self.assertGreater(found["contrast"], 3)
                    wide = self.browser.run("return document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(wide, 0, (width, step))

    def test_print_has_the_trip_and_nothing_to_press(self) -> None:
        self.trip("대구", "1호선", "설화명곡", "진천")
        for look in ("auto", "dark"):
            self.browser.look(390, 844, dark=True, media="print")
            self.browser.run("document.documentElement.dataset.look = arguments[0]", look)
            self.assertFalse(self.browser.run("return [...document.querySelectorAll('button, .steps')].some((one) => one.checkVisibility())"))
            for word in ("대구", "1호선", "설화명곡", "진천", "화원"):
                self.assertIn(word, self.browser.text("main"))
            self.assertEqual(self.browser.run("return getComputedStyle(document.body).color"), "rgb(30, 28, 25)", look)
        self.assertTrue(self.browser.cdp("Page.printToPDF")["data"])
        self.browser.run("delete document.documentElement.dataset.look")

    @unittest.skipUnless(os.environ.get("PAGES_PICTURES"), "PAGES_PICTURES=1 writes the pictures of the documents")
    def test_pictures(self) -> None:
        self.browser.look(390, 760)
        self.start(language="en")
        self.choose("대구")
        self.choose("1호선")
        self.browser.one("input[value='설화명곡']").click()
        self.browser.picture(PICTURES / "arrive-phone.png")
        self.browser.look(390, 760, dark=True)
        self.start("minute")
        self.trip("대구", "1호선", "설화명곡", "진천")
        self.browser.one("#alarm").click()
        self.browser.until(lambda: self.label() == "알람 설정 완료", 5)
        self.browser.run("document.activeElement.blur()")
        self.browser.picture(PICTURES / "arrive-phone-dark.png")

    def test_in_english(self) -> None:
        self.start(language="en")
        self.trip("대구", "1호선", "설화명곡", "진천")
        self.assertEqual((self.label(), self.browser.one("#state").text), ("Set the alarm", "On the way"))
        self.browser.one("#language").click()
        self.assertEqual(self.label(), "알람 설정")


if __name__ == "__main__":
    unittest.main()
