"""Runs one command and prints what it used, as JSON: status, wall and CPU seconds, peak resident memory.

A process of its own because the kernel counts the memory of the process that starts a command as the command's: this one is small. What the
command prints goes to stderr.
"""

import json
import os
import sys
import time


def main() -> None:
    command = sys.argv[1:]
    start = time.perf_counter()
    process = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    # Linux counts in kilobytes, macOS in bytes.
    megabytes = usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    print(json.dumps([os.waitstatus_to_exitcode(status), wall, usage.ru_utime + usage.ru_stime, megabytes]))


if __name__ == "__main__":
    main()
