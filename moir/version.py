"""The version of the installed package."""

from __future__ import annotations

from functools import cache


@cache
def moir_version() -> str:
    """The version, or `unknown` if the package is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("moir")
    except PackageNotFoundError:
        return "unknown"
