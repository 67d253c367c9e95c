"""What a release tells of the project and cannot know by itself: one table of pyproject.toml, `[tool.moir.release]`.

    source = "https://example.org/moir"        the public repository
    author = "Jane Doe <jane@example.org>"     who answers for the package
    security = "security@example.org"          where weaknesses are reported: an address of mail or of a page
    published = false                          whether a package index has moir, so that `pip install moir` finds it

As long as nothing is published, the documents tell to install from a checkout, and name no addresses.
"""

from __future__ import annotations

import re
import tomllib

from moir.support.records import Record
from scripts.release.requirements import PROJECT

TABLE = "[tool.moir.release]"
_AUTHOR = re.compile(r"([^<>]+?)\s*<([^<>@\s]+@[^<>@\s]+)>")
_INSTALLATION = re.compile(r"pip install (['\"]?)\.(\[[\w,]+\])?\1(?=[\s`)]|$)", re.MULTILINE)
_REPORTED_TO = "Report it to the maintainers"


class ReleaseSettings(Record):
    """The settings of a release.

    Args:
        source: the address of the public repository, without a slash at the end; empty if it is not public yet.
        author: `Name <mail>`; empty if nobody is named yet.
        security: where weaknesses are reported: an address of mail, or of a page; empty if there is none yet.
        published: whether a package index has moir.
    """

    source: str = ""
    author: str = ""
    security: str = ""
    published: bool = False

    @property
    def name_and_mail(self) -> tuple[str, str]:
        """The two parts of `author`. Raises ValueError if it has another form."""
        match = _AUTHOR.fullmatch(self.author)
        if match is None:
            raise ValueError(f"author of {TABLE} is {self.author!r}, not 'Name <mail>'")
        return match[1], match[2]

    @property
    def contact(self) -> str:
        """The address for reports of weaknesses as a link."""
        return self.security if self.security.startswith("https://") else f"mailto:{self.security}"

    def check(self) -> None:
        """Raises ValueError unless everything is set that the packages of a version need."""
        missing = [name for name, value in (("source", self.source), ("author", self.author), ("security", self.security)) if not value]
        if missing:
            raise ValueError(f"a release says where it comes from; set {', '.join(missing)} in {TABLE} of pyproject.toml")
        if not self.source.startswith("https://"):
            raise ValueError(f"source of {TABLE} is {self.source!r}, not an https:// address")
        if not re.fullmatch(r"https://\S+|[^@\s]+@[^@\s]+", self.security):
            raise ValueError(f"security of {TABLE} is {self.security!r}, neither an https:// address nor one of mail")
        _ = self.name_and_mail


def release_settings(project: str | None = None) -> ReleaseSettings:
    """The settings in the text of a pyproject.toml, by default that of the checkout.

    Raises ValueError for a setting that does not exist or has another type.
    """
    text = PROJECT.read_text(encoding="utf-8") if project is None else project
    table = tomllib.loads(text).get("tool", {}).get("moir", {}).get("release", {})
    defaults = ReleaseSettings().by_name()
    for name, value in table.items():
        if name not in defaults:
            raise ValueError(f"{TABLE} has no setting {name!r}; it has {', '.join(defaults)}")
        if type(value) is not type(defaults[name]):
            raise ValueError(f"{name} of {TABLE} is {value!r}, not a {type(defaults[name]).__name__}")
    settings = ReleaseSettings(**table)
    return settings.with_fields(source=settings.source.rstrip("/"))


def as_told(text: str, settings: ReleaseSettings) -> str:
    """A document as the settings have it: where to report weaknesses, and what to install.

    pip install '.[keras]'           ->  pip install 'moir[keras]'                  once moir is published
    Report it to the maintainers     ->  Report it to [security@…](mailto:…)        if there is an address
    """
    if settings.published:
        text = _INSTALLATION.sub(lambda match: f"pip install {match[1]}moir{match[2] or ''}{match[1]}", text)
    if settings.security:
        text = text.replace(_REPORTED_TO, f"Report it to [{settings.security}]({settings.contact})")
    return text
