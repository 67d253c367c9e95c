"""What MkDocs calls while it builds the site, see mkdocs.yml.

The pages that no file in `docs` has are added, and all pages get their weights in the search. The search works from the
disk, too: the theme has it load a script of another server for that, in whose place it loads one of the site.
"""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from scripts.release.settings import as_told, release_settings
from scripts.site.pages import pages, search_boost

WORKER = "assets/javascripts/worker_from_disk.js"
_OF_THE_THEME = "https://unpkg.com/iframe-worker/shim"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the script of the search, to the files of the site."""
    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    script = Path(__file__).with_name("worker_from_disk.js").read_text(encoding="utf-8")
    files.append(File.generated(config, WORKER, content=script))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Give the page its weight in the search, which MkDocs reads from the front matter of a page, and its text the
    addresses of the release.
    """
    page.meta.setdefault("search", {"boost": search_boost(page.file.src_uri)})
    return as_told(markdown, release_settings())


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:  # noqa: ARG001
    """Load the script of the site. Raises ValueError if the theme loads none, as the search would not work then."""
    if _OF_THE_THEME not in output:
        raise ValueError(f"{page.file.src_uri} does not load {_OF_THE_THEME}: has the theme changed?")
    return output.replace(_OF_THE_THEME, get_relative_url(WORKER, page.url))
