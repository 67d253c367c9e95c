"""Checks that Netron reads the files that moir writes.

    python -m scripts.netron_check [--python PYTHON] IR.xml …

Opens each file in Netron, which PYTHON can import (`pip install netron`), in a Chromium without a window, and compares
the kinds of the nodes that it draws with the layers of the file. Prints a line for each, and exits with 1 if one
differs.
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from playwright.sync_api import Page, sync_playwright

HIDDEN = frozenset(("Const", "Parameter", "Result"))
"""Layers that Netron draws as arguments of others, or as inputs and outputs."""


def layers(path: Path) -> Counter[str]:
    """The layers of an IR by their types, without those in bodies."""
    elements = ElementTree.parse(path).getroot().findall("./layers/layer")
    return Counter(each.get("type", "") for each in elements if each.get("type") not in HIDDEN)


def drawn(page: Page, address: str) -> Counter[str]:
    """The nodes that Netron draws, by kind. Raises RuntimeError with its message if it cannot read the file."""
    # Netron takes away what the browser is driven by.
    page.add_init_script("const own = eval; Object.defineProperty(window, 'eval', {get: () => own, set: () => {}})")
    page.route("**", lambda route: route.continue_() if route.request.url.startswith(address) else route.abort())
    page.goto(address)
    nodes, message = page.locator("#target .graph-node").first, page.locator("#message-text")
    for _ in range(_QUESTIONS):
        nodes.or_(page.locator("#message-button")).locator("visible=true").first.wait_for(timeout=60_000)
        if nodes.is_visible():
            break
        button = page.locator("#message-button")
        if button.inner_text() != "Accept":
            raise RuntimeError(message.inner_text())
        # It asks for consent to its terms at the first start.
        button.click()
    kinds = page.locator("#target .graph-node > .node-item-type > text").all_text_contents()
    return Counter(kinds)


_QUESTIONS = 3


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _with_whole_names(drawn_nodes: Counter[str], kinds: Iterable[str]) -> Counter[str]:
    """Nodes by kind where Netron has left out the middle of long names."""
    whole: Counter[str] = Counter()
    for name, number in drawn_nodes.items():
        beginning, cut, end = name.partition("…")
        fitting = [kind for kind in kinds if cut and kind.startswith(beginning) and kind.endswith(end)]
        whole[fitting[0] if fitting else name] += number
    return whole


def checked(page: Page, path: Path, python: str) -> str:
    """The differences between an IR and what Netron draws of it, as text; empty if there are none."""
    port = _free_port()
    program = f"import netron; netron.start({str(path)!r}, ('127.0.0.1', {port}), browse=False); netron.wait()"
    server = subprocess.Popen([python, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        expected = layers(path)
        drawn_nodes = _with_whole_names(drawn(page, f"http://127.0.0.1:{port}"), expected)
    except RuntimeError as error:
        return re.sub(r"\s+", " ", str(error))
    finally:
        server.terminate()
        server.wait()
    return ", ".join(
        f"{kind}: {expected[kind]} layers, {drawn_nodes[kind]} nodes" for kind in expected if drawn_nodes[kind] != expected[kind]
    )


def main(arguments: Sequence[str]) -> int:
    """Check files; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, metavar="IR.xml")
    parser.add_argument("--python", default=sys.executable, help="a Python that can import netron (default: this one)")
    options = parser.parse_args(arguments)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    status = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for path in options.files:
            page = browser.new_page()
            difference = checked(page, path, options.python)
            page.close()
            print(f"{path}: {difference or f'{layers(path).total()} nodes'}")
            status = status or int(bool(difference))
        browser.close()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
