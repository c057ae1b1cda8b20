"""The pages in a real browser, with keys that are really pressed.

Skipped without Chromium; on Debian, apt-get install chromium. With NAVARENA_SCREENSHOTS=DIR, pages are drawn
into DIR: wide, narrow and dark.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from navarena.evaluation import EvaluationSettings, read_record, replay_run
from navarena.evaluation.records.journal import read_rows
from navarena.evaluation.running.runner import evaluate

pytestmark = [pytest.mark.server, pytest.mark.browser, pytest.mark.slow]
pytest.importorskip("fastapi")
pytest.importorskip("websockets")
playwright = pytest.importorskip("playwright.sync_api")

from ..browsers import open_browser  # noqa: E402

PATIENCE_MS = 120_000
HOUSE = "houses-v1/val/00015"  # of two storeys
SHAPES = {"wide": (1280, 860, "light"), "phone": (390, 844, "light"), "dark": (1280, 860, "dark")}


@contextmanager
def open_page(browser: Any, address: str) -> Iterator[Any]:
    """A page, and at the end the errors of its script: there must be none."""
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.set_default_timeout(PATIENCE_MS)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.goto(address)
    yield page
    page.close()
    assert not problems


@contextmanager
def start(folder: Path, *words: str) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """A command with a page, and the address of the page."""
    command = [sys.executable, "-u", "-m", "navarena", *words, "--port", "0", "--no-browser"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            said = ""
            while not (found := re.search(r"the page is at (http://\S+)", said)):
                line = process.stderr.readline()
                assert line, said
                said += line
            yield process, found[1]
        finally:
            if process.poll() is None:
                process.terminate()
            process.communicate(timeout=60)


def draw(page: Any, name: str) -> None:
    folder = os.environ.get("NAVARENA_SCREENSHOTS")
    for shape, (width, height, scheme) in SHAPES.items() if folder else ():
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{folder}/{name}-{shape}.png", full_page=shape == "phone")
    if folder:
        page.set_viewport_size({"width": 1280, "height": 860})
        page.emulate_media(color_scheme="light")


def wait_step(page: Any, step: int) -> None:
    page.wait_for_selector(f'body[data-phase="play"][data-step="{step}"]')


def press_at_once(page: Any, *keys: str) -> None:
    """Press keys one after the other, before the page can hear of the program."""
    press = "for (const kind of ['keydown', 'keyup']) document.dispatchEvent(new KeyboardEvent(kind, {key}))"
    page.evaluate("(keys) => { for (const key of keys) " + press + "; }", keys)


def said(page: Any, selector: str, pattern: re.Pattern[str]) -> None:
    """Wait until an element says something."""
    playwright.expect(page.locator(selector)).to_have_text(pattern, timeout=PATIENCE_MS)


def slide(page: Any, selector: str, value: int) -> None:
    """Move a slider."""
    move = "(one, value) => { one.value = value; one.dispatchEvent(new Event('input')); }"
    page.eval_on_selector(selector, move, value)


def has_no_scrollbar(page: Any) -> bool:
    """Whether the page fits the width of a phone."""
    page.set_viewport_size({"width": 360, "height": 740})
    fits = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.set_viewport_size({"width": 1280, "height": 860})
    return bool(fits)


def test_keys_play_episodes(tmp_path: Path) -> None:
    words = ("play", "objectnav-habitat2020-v1", "--episodes", "2", "--out", "run")
    with open_browser() as browser, start(tmp_path, *words) as (process, address):
        with open_page(browser, address) as page:
            wait_step(page, 0)
            assert page.inner_text("#goal").startswith("any ")
            assert page.evaluate("document.getElementById('rgb').height") == 480
            press_at_once(page, "ArrowLeft", "d")  # the second while the first is under way
            wait_step(page, 2)
            for step, key in enumerate(("w", "ArrowUp", "r", "f", "PageDown"), 3):
                page.keyboard.press(key)
                wait_step(page, step)
            page.keyboard.press("2")
            page.wait_for_selector('#others figure[data-name="depth"] canvas')
            assert page.is_hidden("#map-section") and page.is_hidden("#help")
            draw(page, "play")
            page.keyboard.press("m")
            page.wait_for_selector("#map svg.topdown .body")
            assert "top-down map" in page.inner_text("#help")
            draw(page, "play-help")
            assert has_no_scrollbar(page)
            page.keyboard.press("m")
            page.wait_for_selector("#map-section", state="hidden")
            page.keyboard.press("Space")
            page.wait_for_selector("#score:visible")
            assert "after 8 steps" in page.inner_text("#verdict") and "SPL" in page.inner_text("#metrics")
            draw(page, "play-score")
            page.keyboard.press("n")
            wait_step(page, 0)
            page.keyboard.down("ArrowLeft")  # held: it goes on turning
            said(page, "#step", re.compile(r"^([3-9]|\d\d+) of"))
            page.keyboard.up("ArrowLeft")
            page.click('#pad [data-what="declare"]')
            page.wait_for_selector("#summary:visible")
            assert "Success" in page.inner_text("#means")
            draw(page, "play-finished")
        assert process.wait(60) == 0
    first, second = sorted(read_rows(tmp_path / "run"), key=lambda row: len(set(row.actions)), reverse=True)
    names = ("stop", "move_forward", "turn_left", "turn_right", "look_up", "look_down")
    played = [names[int(one)] for one in first.actions]  # type: ignore[call-overload]
    turns, walks = ["turn_left", "turn_right"], ["move_forward", "move_forward"]
    assert played == [*turns, *walks, "look_up", "look_down", "look_down", "stop"]
    assert set(second.actions) == {0, 2} and second.steps >= 4
    assert read_record(tmp_path / "run").privileged_inputs == ("top-down map",)
    assert not replay_run(tmp_path / "run").differences


def test_people_play_on_a_graph(tmp_path: Path) -> None:
    words = ("play", "r2r-v1", "--episodes", "1", "--people", "2", "--out", "study")
    with open_browser() as browser, start(tmp_path, *words) as (process, address):
        with open_page(browser, address) as page:
            for name in ("ada", "bob"):
                page.wait_for_selector("#welcome:visible")
                assert page.input_value("#name") == "" and not page.is_checked("#consent")
                draw(page, "welcome")
                page.fill("#name", name)
                page.check("#consent")
                page.click("#begin button")
                wait_step(page, 0)
                page.keyboard.press("ArrowLeft")
                page.keyboard.press("ArrowRight")
                page.keyboard.press("1")
                wait_step(page, 1)
                draw(page, "graph")
                page.keyboard.press("Space")
                page.wait_for_selector("#summary:visible")
                if name == "ada":
                    with page.expect_download() as download:
                        page.click("#export")
                    assert "ada,1," in Path(download.value.path()).read_text()
                    page.keyboard.press("n")
        assert process.wait(60) == 0
    assert (tmp_path / "study" / "people.csv").read_text().count("\n") == 3


def test_a_scene_is_walked_through(tmp_path: Path) -> None:
    with (
        open_browser() as browser,
        start(tmp_path, "scene", "view", HOUSE) as (_, address),
        open_page(browser, address) as page,
    ):
        page.wait_for_selector('body[data-phase="scene"]')
        place = page.inner_text("#place")
        page.keyboard.down("w")
        playwright.expect(page.locator("#place")).not_to_have_text(place, timeout=PATIENCE_MS)
        page.keyboard.up("w")
        page.keyboard.press("g")
        page.wait_for_selector('#navmesh[aria-pressed="true"]')
        page.mouse.move(500, 400)
        page.mouse.down()
        page.mouse.move(620, 410, steps=5)
        page.mouse.up()
        page.mouse.click(500, 640)
        page.wait_for_selector("#picked dd")
        rows = page.locator("#picked dt").all_inner_texts()
        assert "category" in rows and len(rows) == len(set(rows)), "an attribute is called size, too"
        page.keyboard.press("v")
        page.wait_for_selector('#points[aria-pressed="true"]')
        draw(page, "scene")
        page.click("#orbit")
        page.wait_for_selector('#orbit[aria-pressed="true"]')
        slide(page, "#storey", 0)
        said(page, "#storey-name", re.compile("^1 of"))
        page.mouse.move(500, 400)
        page.mouse.wheel(0, -300)
        draw(page, "scene-above")
        assert has_no_scrollbar(page)


def test_a_replay_is_watched(tmp_path: Path) -> None:
    evaluate(EvaluationSettings("multion-shapes-2on-v1", "expert", episodes=3, out=tmp_path / "run"))
    with open_browser() as browser, start(tmp_path, "replay", "run", "--watch") as (process, address):
        with open_page(browser, address) as page:
            page.wait_for_selector('body[data-phase="watch"]')
            page.wait_for_selector("#map svg.topdown .body")
            page.click('#tiles [data-slot="1"]')
            page.wait_for_selector('#tiles [data-slot="1"][aria-pressed="true"]')
            draw(page, "watch")
            assert has_no_scrollbar(page)
            slide(page, "#pace", 60)
            page.wait_for_selector('body[data-phase="finished"][data-done="3"]')
        assert process.wait(60) == 0
