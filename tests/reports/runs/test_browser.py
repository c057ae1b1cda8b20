"""The page in a real browser: it opens, sorts, finds, turns pages, plays, prints, and asks for no network.

Skipped without Chromium; on Debian, apt-get install chromium.
"""

import base64
import shutil

import numpy as np
import pytest

from navarena.evaluation import compare, read_contestant
from navarena.reports.runs import Drawn, VideoCard, render_runs
from navarena.reports.videos.video_file import encode_jpeg, open_video
from reports.runs.made import CLASSES, make_runs, write_large_run

pytestmark = pytest.mark.browser

ROWS = 1234
PLAY = """async () => {
    const video = document.querySelector('video');
    document.querySelector('.play').click();
    const begun = performance.now();
    while (video.currentTime < 0.3 && performance.now() - begun < 20000)
        await new Promise((done) => setTimeout(done, 30));
    return [video.currentTime, video.videoWidth, video.videoHeight, video.duration, video.error?.message];
}"""


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed; run: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


def make_video(folder):
    """Two seconds of a square that moves, as the page takes it."""
    path = folder / "video.mp4"
    with open_video(path, 160, 120, 10) as video:
        for k in range(20):
            image = np.full((120, 160, 3), 200, np.uint8)
            image[40:80, 6 * k : 6 * k + 30] = (20, 90, 200)
            video.write(image)
    source = f"data:video/mp4;base64,{base64.b64encode(path.read_bytes()).decode()}"
    poster = f"data:image/jpeg;base64,{base64.b64encode(encode_jpeg(image)).decode()}"
    return VideoCard("Walker", "e001", "corridor/00", "best", "success", 2.0, source, poster)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    walker, crasher = make_runs(folder, "Walker", "Crasher")
    write_large_run(folder / "large", folder / "Walker", ROWS)
    large = read_contestant("Large", [folder / "large"])
    drawn = Drawn({}, (make_video(folder),))
    path = folder / "page.html"
    path.write_text(render_runs(compare([walker, crasher, large]), ({}, CLASSES, None), drawn))
    return path


@pytest.fixture
def page(browser, page_file):
    """The page, open; fails when a script raised or something was asked from the network."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on(
        "request",
        lambda asked: faults.append(asked.url[:80]) if not asked.url.startswith(("file:", "data:")) else None,
    )
    opened.goto(page_file.as_uri())
    opened.wait_for_selector("html[data-ready]")
    yield opened
    context.close()
    assert not faults


def cells(page, heading):
    """The texts of the column `heading` of the table of episodes, as shown."""
    headings = page.locator("#episodes th").all_inner_texts()
    place = [text.strip(" ↑↓") for text in headings].index(heading)
    return page.eval_on_selector_all(
        "#episodes tbody tr", f"rows => rows.map(row => row.cells[{place}].textContent)"
    )


def press(page, heading):
    page.get_by_role("button", name=heading, exact=True).and_(page.locator("#episodes th button")).click()


def test_a_hundred_rows_are_shown_and_pages_turn(page):
    place = page.locator("#episodes .grid-place")
    assert place.inner_text() == f"1 to 100 of {ROWS + 80:,}"
    assert page.locator("#episodes tbody tr").count() == 100
    assert page.locator("#episodes").get_by_role("button", name="Previous").is_disabled()
    page.locator("#episodes").get_by_role("button", name="Next").click()
    assert place.inner_text() == f"101 to 200 of {ROWS + 80:,}"
    assert cells(page, "episode")[0] == sorted(f"{k % 100:03d}/e{k:06d}" for k in range(ROWS))[100 - 80][4:]
    page.locator("#episodes").get_by_role("button", name="Last").click()
    assert place.inner_text() == f"1,301 to {ROWS + 80:,} of {ROWS + 80:,}"
    assert page.locator("#episodes").get_by_role("button", name="Next").is_disabled()


def test_it_sorts_numbers_as_numbers_both_ways(page):
    press(page, "start distance")
    rising = [float(text.removesuffix(" m")) for text in cells(page, "start distance")]
    assert rising == sorted(rising) and rising[0] == 0.0
    press(page, "start distance")
    falling = [float(text.removesuffix(" m")) for text in cells(page, "start distance")]
    assert falling == sorted(falling, reverse=True) and falling[0] > 19
    assert page.locator("#episodes th[aria-sort=descending]").count() == 1
    press(page, "Distance to goal")
    press(page, "Distance to goal")
    assert cells(page, "Distance to goal")[0] == "∞"


def test_it_finds_rows(page):
    page.locator("#episodes .grid-search").fill("went to and fro")
    assert page.locator("#episodes .grid-place").inner_text() == "1 to 2 of 2"
    assert cells(page, "episode") == ["e001", "e002"] and cells(page, "run") == ["Crasher"] * 2
    page.locator("#episodes .grid-search").fill("nothing holds this")
    assert page.locator("#episodes .grid-place").inner_text() == "no row holds this"
    page.locator("#episodes .grid-search").fill("")
    assert page.locator("#episodes tbody tr").count() == 100


def test_short_tables_sort(page):
    table = page.locator("#comparison table")
    table.get_by_role("button", name="p", exact=True).click()
    values = [float(text) for text in table.locator("tbody td:nth-child(6)").all_inner_texts()]
    assert values == sorted(values) and len(values) > 5
    assert table.locator("th[aria-sort=ascending]").count() == 1


def test_it_lists_its_sections(page):
    links = page.locator(".contents a")
    assert links.count() == page.locator("section[id]").count() > 6
    links.filter(has_text="Every episode").click()
    assert page.evaluate("scrollY") > 500


@pytest.mark.parametrize("width", [320, 390, 700])
def test_wide_tables_scroll_in_themselves_with_their_first_column_fixed(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shifts = page.evaluate(
        """() => [...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth)
            .map(one => {
                one.scrollLeft = 60;
                const cell = one.querySelector('tbody td');
                return cell.getBoundingClientRect().left - one.getBoundingClientRect().left;
            })"""
    )
    assert shifts and all(abs(shift) < 1 for shift in shifts)


def test_it_plays(page):
    time, width, height, duration, error = page.evaluate(PLAY)
    assert error is None and (width, height) == (160, 120)
    assert time >= 0.3 and duration == pytest.approx(2.0, abs=0.11)


def test_it_prints(page):
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF") and len(printed) > 20_000
    page.emulate_media(media="print")
    assert page.locator("#episodes .grid-search").is_hidden()
    assert page.locator("#episodes tbody tr").first.is_visible()


def test_it_follows_the_theme(browser, page_file):
    grounds = []
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(page_file.as_uri())
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        ink = page.evaluate(
            "getComputedStyle(document.querySelector('.chart text')).fill"
        )  # letters of plots are the page's
        assert ink == page.evaluate("getComputedStyle(document.querySelector('.small')).color")
        page.close()
    assert grounds == ["rgb(255, 255, 255)", "rgb(20, 23, 27)"]


@pytest.mark.slow
@pytest.mark.turns(6)
def test_a_hundred_thousand_rows_open_soon(browser, page_file, tmp_path):
    """Under 3 s on an idle machine; here with room for a busy one."""
    write_large_run(tmp_path / "huge", page_file.parent / "Walker", 100_000)
    path = tmp_path / "huge.html"
    path.write_text(render_runs(compare([read_contestant("Huge", [tmp_path / "huge"])]), (None,)))
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    seconds = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000
    assert seconds < 10
    assert page.locator("#episodes .grid-place").inner_text() == "1 to 100 of 100,000"
