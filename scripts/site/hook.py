"""What MkDocs calls while it builds the site: the pages that no file in `docs` has are added. See mkdocs.yml."""

from __future__ import annotations

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from scripts.site.pages import pages


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages to the files of the site."""
    for place, text in pages().items():
        files.append(File.generated(config, place, content=text))
    return files
