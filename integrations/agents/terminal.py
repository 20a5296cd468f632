"""Runs an agent in a pseudo-terminal, as a person does who works with it.

Agents treat hooks differently there: answers that hold without a terminal may be ignored in one.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

ROWS, COLUMNS = 40, 120
READ_BYTES = 65536
READ_SECONDS = 0.1
# What programs ask their terminal at the start, and what a plain one answers.
QUESTIONS = {
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
}


def run_in_terminal(
    command: list[str],
    environment: dict[str, str],
    directory: Path,
    log: BinaryIO,
    finished: Callable[[], bool],
    limit_seconds: float,
) -> int | None:
    """Runs `command` until it ends, or until `finished` says so and it is ended.

    Returns the exit code, 0 if it was ended because all was done, and nothing at the time limit.
    """
    child, terminal = pty.fork()
    if child == 0:
        _become(command, {**environment, "TERM": "xterm-256color"}, directory)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    end = time.monotonic() + limit_seconds
    try:
        while time.monotonic() < end:
            if finished():
                return 0
            if not _attend(terminal, log):
                _, status = os.waitpid(child, 0)
                child = 0
                return os.waitstatus_to_exitcode(status)
        return None
    finally:
        if child:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(terminal)


def _become(command: list[str], environment: dict[str, str], directory: Path) -> None:
    """Turns this process, the child, into the agent."""
    try:
        os.chdir(directory)
        os.execve(command[0], command, environment)
    finally:
        os._exit(127)


def _attend(terminal: int, log: BinaryIO) -> bool:
    """Reads what the agent drew and answers what it asks; false if it has ended."""
    ready, _, _ = select.select([terminal], [], [], READ_SECONDS)
    if not ready:
        return True
    try:
        drawn = os.read(terminal, READ_BYTES)
    except OSError:
        return False
    log.write(drawn)
    for question, answer in QUESTIONS.items():
        if question in drawn:
            os.write(terminal, answer)
    return bool(drawn)
