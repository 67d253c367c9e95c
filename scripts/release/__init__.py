"""Makes a release, but for the upload: `make release VERSION=0.2.0`, see docs/contributing.md."""
