"""The search of the site works where the site is a folder on the disk."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

pytest.importorskip("material")

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ROOT = Path(__file__).parents[3]

CONFIGURATION = """\
site_name: small
use_directory_urls: false
theme: {name: material, font: false}
hooks: [hook.py]
plugins: [search, offline]
"""

HOOK = """\
from scripts.site import hook

hook.pages = dict
on_files, on_post_page = hook.on_files, hook.on_post_page
"""


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium; .ci/run installs it")
def test_the_search_works_from_the_disk(tmp_path: Path) -> None:
    pages = {"index.md": "# Begin\n", "options.md": "# Options\nA manifest lists models.\n", "deep/page.md": "# Deep\n"}
    for name, text in {"mkdocs.yml": CONFIGURATION, "hook.py": HOOK, **{f"docs/{name}": text for name, text in pages.items()}}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "-q"], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, check=True, timeout=120)
    requests: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 800})
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"file://{tmp_path}/site/deep/page.html")
        page.locator("label.md-search__icon").first.wait_for(state="attached")
        page.keyboard.press("/")
        page.keyboard.type("manifest")
        page.locator(".md-search-result__item", has_text="Options").wait_for(state="attached", timeout=30_000)
        browser.close()
    assert [each for each in requests if not each.startswith(("file:", "data:"))] == []


def test_the_site_has_that_search() -> None:
    lines = [line.strip() for line in (ROOT / "mkdocs.yml").read_text(encoding="utf-8").splitlines()]
    assert lines.index("- search") + 1 == next(number for number, line in enumerate(lines) if line.startswith("- offline"))
    assert "- scripts/site/hook.py" in lines
