"""CHANGELOG.md, in which a release cuts off what was not released before, as Keep a Changelog has it."""

from __future__ import annotations

import re
from datetime import date

UNRELEASED = "## Unreleased\n"
NO_RELEASE = " There has been no release yet."


def cut(text: str, version: str, day: date) -> str:
    """The changelog with the unreleased entries in a section for a version.

        ## Unreleased            ## Unreleased
                                                            (the entries move to the new section)
        ### Added          ->    ## 0.2.0 - 2026-12-01

        - Something.             ### Added
                                 …

    Raises ValueError if there is nothing to release, or the version has a section.
    """
    before, heading, after = text.partition(UNRELEASED)
    if not heading:
        raise ValueError(f"CHANGELOG.md has no line {UNRELEASED.strip()!r}")
    if f"\n## {version} " in text:
        raise ValueError(f"CHANGELOG.md has a section for {version}; raise the version")
    if not re.search(r"^- ", after.split("\n## ")[0], re.MULTILINE):
        raise ValueError("CHANGELOG.md says nothing below Unreleased: there is nothing to release")
    return f"{before.replace(NO_RELEASE, '')}{UNRELEASED}\n## {version} - {day.isoformat()}\n{after}"
