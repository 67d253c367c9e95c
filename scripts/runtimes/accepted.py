"""Runs in the environment of one release: which of the models of single operations it reads and compiles.

    python accepted.py LIST.json

The list has the path of an IR by the name of each operation. Each model is compiled in a process of its own, since some
end it; one line of JSON is printed for each: the name, whether it is read, and whether it is compiled. It imports
nothing of moir, and runs on Python 3.8 and newer.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
from importlib import import_module
from typing import Any


def attempt(connection: Any, path: str) -> None:
    """Send True for each step that succeeds: reading and compiling."""
    openvino: Any = import_module("openvino.runtime" if sys.version_info < (3, 11) else "openvino")
    try:
        core = openvino.Core()
        model = core.read_model(path)
        connection.send(True)
        core.compile_model(model, "CPU")
        connection.send(True)
    except RuntimeError:
        pass
    connection.close()


def main() -> None:
    """Try all operations of the list."""
    with open(sys.argv[1], encoding="utf-8") as file:
        files = json.load(file)
    for name, path in files.items():
        receiver, sender = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=attempt, args=(sender, path))
        process.start()
        sender.close()
        steps = 0
        try:
            while steps < 2 and receiver.poll(60):
                steps += bool(receiver.recv())
        except EOFError:
            pass
        process.kill()
        process.join()
        print(json.dumps([name, steps > 0, steps > 1]), flush=True)


if __name__ == "__main__":
    main()
