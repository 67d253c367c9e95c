"""What a package index shows of a release: README with links that lead to the repository, and its addresses.

    [options](docs/options.md)        ->  [options](SOURCE/blob/v0.2.0/docs/options.md)
    ![a step](docs/images/step.png)   ->  ![a step](SOURCE/raw/v0.2.0/docs/images/step.png)

In a checkout these links are relative, so that they lead to files of the same version. `blob` and `raw` are the words
of GitHub and GitLab.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from scripts.release.settings import ReleaseSettings, as_told

_RELATIVE = re.compile(r"(!?)\[((?:[^\[\]]|\n)*)\]\((?!https?:|#)([^()\s]+)\)")
_URLS = "[project.urls]\n"
_NAME = 'name = "moir"\n'


def with_absolute_links(text: str, source: str, version: str) -> str:
    """A text whose relative links lead to files of a version in a repository.

    Args:
        text: Markdown.
        source: the address of the repository.
        version: `0.2.0`, whose tag is `v0.2.0`.
    """
    return _RELATIVE.sub(lambda link: f"{link[1]}[{link[2]}]({source}/{'raw' if link[1] else 'blob'}/v{version}/{link[3]})", text)


def with_addresses(project: str, settings: ReleaseSettings) -> str:
    """The text of pyproject.toml with the author and the addresses of the settings, as far as they are set.

    Raises ValueError if it has no table of addresses.
    """
    if _URLS not in project:
        raise ValueError("pyproject.toml has no [project.urls]")
    source = settings.source
    addresses = {"Source": source, "Issues": f"{source}/issues", "Changelog": f"{source}/blob/HEAD/CHANGELOG.md"} if source else {}
    if settings.security.startswith("https://"):
        addresses["Security"] = settings.security
    elif settings.security and source:
        # An address of mail is none for a package index; this page has it.
        addresses["Security"] = f"{source}/blob/HEAD/SECURITY.md"
    project = project.replace(_URLS, _URLS + "".join(f'{name} = "{address}"\n' for name, address in addresses.items()))
    if settings.author:
        name, mail = settings.name_and_mail
        project = project.replace(_NAME, f'{_NAME}authors = [{{ name = "{name}", email = "{mail}" }}]\n', 1)
    return project


def export(root: Path, folder: Path, settings: ReleaseSettings, version: str) -> None:
    """Copy the files that git tracks to a folder: documents as the settings have them, README and pyproject.toml as a
    package index is to show them.
    """
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True).stdout
    for name in listed.rstrip("\0").split("\0"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name, follow_symlinks=False)
    for document in folder.rglob("*.md"):
        if not document.is_symlink() and (text := document.read_text(encoding="utf-8")) != (told := as_told(text, settings)):
            document.write_text(told, encoding="utf-8")
    readme, project = folder / "README.md", folder / "pyproject.toml"
    if settings.source:
        readme.write_text(with_absolute_links(readme.read_text(encoding="utf-8"), settings.source, version), encoding="utf-8")
    project.write_text(with_addresses(project.read_text(encoding="utf-8"), settings), encoding="utf-8")
