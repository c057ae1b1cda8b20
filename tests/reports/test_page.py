"""The report holds what it must, stands alone, and opens in a real browser."""

import dataclasses
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from evaluation.corridor import make_benchmark, make_settings
from navarena.agents import Declaration
from navarena.core.errors import StorageError
from navarena.evaluation import evaluate
from navarena.reports import render_report, write_report
from navarena.reports.gallery import PER_SECTION, choose_episodes
from navarena.reports.page import is_current
from reports.corridor_plan import make_plan

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Checker(HTMLParser):
    """Collects elements and text, and insists on balanced tags."""

    def __init__(self):
        super().__init__()
        self.open, self.count, self.text, self.attributes = [], {}, [], []

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def check(html):
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


@pytest.fixture(scope="module")
def crashed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crashed")
    return evaluate(make_settings(folder, "Crasher"), make_benchmark("Crasher"))


@pytest.fixture(scope="module")
def html(crashed):
    return render_report(crashed, make_plan)


def test_it_says_what_was_measured(crashed, html):
    text = " ".join("".join(check(html).text).split())
    assert "corridor-v1@corridors/mini#0123456789abcdef" in text
    assert "Crasher on corridor-v1" in text
    for title in ("Success", "SPL", "SoftSPL", "Distance to goal", "Path length", "Collisions", "Actions"):
        assert title in text
    assert f"{100 * crashed.summary.metrics['success'].mean:.1f} %" in text
    assert crashed.record.started.replace("T", " ").replace("+00:00", " UTC") in text
    assert f"numpy {crashed.record.versions['numpy']}" in text
    assert "7 crashed" in text
    assert "ZeroDivisionError: the walker stumbled" in text
    assert "5 to 10 m" in text
    assert "corridor/07" in text
    assert "10,000 bootstrap resamples of whole scenes" in text


def test_it_draws_a_bounded_number_of_episodes(html):
    checker = check(html)
    drawings = html.count('<svg class="topdown"')
    assert 3 <= drawings <= 3 * PER_SECTION
    charts = html.count('class="chart"')
    assert charts >= 2 and checker.count["figure"] == drawings + charts


def test_it_stands_alone(html):
    checker = check(html)
    for tag in ("link", "iframe", "img"):
        assert tag not in checker.count
    links = [value for name, value in checker.attributes if name in ("src", "href", "xlink:href")]
    assert [link for link in links if not link.startswith("#")] == []
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)  # clips of plots stand in the page itself
    assert "://" not in re.sub(r"<code>.*?</code>", "", html)


def test_names_cannot_become_markup(html):
    assert "corridor &lt;long&gt;" in html
    assert "<long>" not in html


def test_it_follows_the_theme_and_prints(html):
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_the_same_run_gives_the_same_page(crashed, html):
    assert render_report(crashed, make_plan) == html


def test_a_page_without_drawings_and_without_failures(tmp_path):
    evaluation = evaluate(make_settings(tmp_path), make_benchmark())
    html = render_report(evaluation)
    check(html)
    assert "Episodes from above" not in html
    assert "Broken by the agent" not in html


def test_a_custom_part_says_so(tmp_path):
    benchmark = make_benchmark(count=6)
    benchmark = dataclasses.replace(benchmark, identity=benchmark.identity.first(6))
    html = render_report(evaluate(make_settings(tmp_path), benchmark), make_plan)
    assert "compare with no published ones" in html
    assert ">custom</span>" in html
    assert ">privileged</span>" not in html


def test_a_privileged_agent_says_so(tmp_path):
    declaration = Declaration(privileged=True, privileged_inputs=("navmesh",))
    benchmark = dataclasses.replace(make_benchmark(count=6), declaration=declaration)
    html = render_report(evaluate(make_settings(tmp_path), benchmark))
    assert ">privileged</span>" in html and "(navmesh)" in html
    assert "looks behind its observations" in html


def test_one_episode_is_enough(tmp_path):
    html = render_report(evaluate(make_settings(tmp_path), make_benchmark(count=1)), make_plan)
    check(html)


def test_writing_is_atomic(crashed, monkeypatch):
    path = write_report(crashed, make_plan)
    before = path.read_bytes()

    def refuse(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", refuse)
    with pytest.raises(StorageError, match="No space left"):
        write_report(crashed)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir() if file.name.startswith(".report")] == []


def test_choosing_episodes(crashed):
    sections = choose_episodes(crashed.rows, "success", "spl")
    chosen = [row.episode_id for rows in sections.values() for row in rows]
    assert len(chosen) == len(set(chosen))
    failures = sections["Failures, easiest first"]
    assert all(row.metrics["success"] == 0 for row in failures)
    assert failures[0].failed
    best = [row.metrics["spl"] for row in sections["Most efficient successes"]]
    worst = [row.metrics["spl"] for row in sections["Least efficient successes"]]
    assert best == sorted(best, reverse=True)
    assert max(worst) <= min(best)


@pytest.mark.browser
def test_it_opens_in_a_browser(crashed, tmp_path):
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed; run: apt-get install chromium")
    page, screenshot, printed = write_report(crashed, make_plan), tmp_path / "page.png", tmp_path / "page.pdf"
    base = [
        chromium,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'user'}",
    ]
    dom = subprocess.run(
        [*base, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "Crasher" in dom
    assert dom.count('class="topdown"') == page.read_text().count('class="topdown"')
    subprocess.run(
        [*base, f"--screenshot={screenshot}", "--window-size=1000,1400", page.as_uri()],
        capture_output=True,
        timeout=60,
        check=True,
    )
    subprocess.run(
        [*base, f"--print-to-pdf={printed}", page.as_uri()], capture_output=True, timeout=60, check=True
    )
    assert printed.read_bytes().startswith(b"%PDF")
    from PIL import Image

    with Image.open(screenshot) as image:
        assert image.size == (1000, 1400)
        assert len(image.convert("RGB").getcolors(1 << 24)) > 50  # something is drawn


def test_a_page_is_current_until_something_new_is_known(tmp_path):
    evaluation = evaluate(make_settings(tmp_path), make_benchmark(count=2))
    assert not is_current(tmp_path)
    page = write_report(evaluation)
    os.utime(page, ns=(0, page.stat().st_mtime_ns + 1_000_000_000))
    assert is_current(tmp_path)
    (tmp_path / "failures.json").touch()
    os.utime(tmp_path / "failures.json", ns=(0, page.stat().st_mtime_ns + 1))
    assert not is_current(tmp_path)
