"""The version of the package; pyproject.toml takes it from here.

What is installed could be asked of `importlib.metadata`, which takes a twentieth of the time of starting.
"""

VERSION = "0.1.0"
