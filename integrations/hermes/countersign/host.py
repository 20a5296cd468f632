"""Reads and sets the few things of Hermes that a hook is not handed.

Everything here is a lookup in Hermes' own modules, kept in one file because they may move. A lookup
that fails costs comfort, never safety: the call is asked without a directory or a run, or Hermes
asks a second time.
"""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

logger = logging.getLogger(__name__)

# Tools whose own gate in Hermes asks the question that Countersign has answered.
GATED_BY_HERMES = frozenset({"terminal", "execute_code"})


class Host:
    """Hermes, as far as the plugin needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lifted: Counter[str] = Counter()

    def session_key(self) -> str:
        """Returns the key under which Hermes keeps approvals here, or an empty text."""
        try:
            from tools.approval import get_current_session_key

            return str(get_current_session_key(default="") or "")
        except Exception:
            return ""

    def run_id(self) -> str | None:
        """Returns the run of Hermes' API server that this code belongs to: its approval key."""
        key = self.session_key()
        return key if key.startswith("run_") else None

    def directory(self, task_id: str) -> str | None:
        """Returns the directory in which a command would run now, where that is known."""
        try:
            from tools.terminal_tool import get_session_cwd

            recorded: str | None = get_session_cwd(self.session_key() or task_id)
        except Exception:
            recorded = None
        return recorded or self.workspace()

    def workspace(self) -> str | None:
        """Returns the directory in which every session starts, unless it is in a container or on
        another machine."""
        if os.environ.get("TERMINAL_ENV", "local") != "local":
            return None
        return os.environ.get("TERMINAL_CWD") or os.getcwd()

    def as_run(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """Returns the arguments as the tool will get them: Hermes turns "5" into 5 where the tool
        wants a number, after the hook and before the tool."""
        args = copy.deepcopy(args)
        try:
            from model_tools import coerce_tool_args

            coerced = coerce_tool_args(tool, args)
        except Exception:
            return args
        return coerced if isinstance(coerced, dict) else args

    def interrupted(self) -> bool:
        """Whether the user has stopped the run that waits in this thread."""
        try:
            from tools.interrupt import is_interrupted

            return bool(is_interrupted())
        except Exception:
            return False

    def alive(self, since: dict[str, float]) -> None:
        """Tells Hermes' watchdog that the run is waiting, not stuck."""
        try:
            from tools.environments.base import touch_activity_if_due

            touch_activity_if_due(since, "waiting for an answer in Countersign")
        except Exception:
            logger.debug("no sign of life was given", exc_info=True)

    def show(self, line: str) -> None:
        """Shows one line where a person looks at Hermes in a terminal; logs it everywhere."""
        logger.info("%s", line)
        try:
            from tools.approval import _is_interactive_cli

            if _is_interactive_cli():
                print(line, flush=True)
        except Exception:
            logger.debug("the line was not shown", exc_info=True)

    @contextmanager
    def answered(self, tool: str, task_id: str) -> Iterator[None]:
        """Keeps Hermes' own gate from asking again while one answered call runs.

        It uses the session switch behind `/yolo`: Hermes' hardline list and `approvals.deny` still
        apply, and it is off again before the next call. Were `approvals.mode: off` set instead,
        nothing would ask if this plugin did not load.
        """
        undo = None
        if tool in GATED_BY_HERMES:
            try:
                undo = self._lift(task_id)
            except Exception:
                logger.warning("Hermes may ask a second time", exc_info=True)
        try:
            yield
        finally:
            try:
                if undo is not None:
                    undo()
            except Exception:
                logger.warning("Hermes' own approvals stay off for this session", exc_info=True)

    def _lift(self, task_id: str) -> Callable[[], None]:
        from tools import approval

        token = None
        key = self.session_key()
        if not key and task_id:
            # A command line without a session key. Hermes itself falls back to the task.
            key = task_id
            token = approval.set_current_session_key(key)
        with self._lock:
            is_ours = key in self._lifted or not approval.is_session_yolo_enabled(key)
            if is_ours:
                self._lifted[key] += 1
                approval.enable_session_yolo(key)

        def undo() -> None:
            with self._lock:
                if is_ours:
                    self._lifted[key] -= 1
                    if self._lifted[key] <= 0:
                        del self._lifted[key]
                        approval.disable_session_yolo(key)
            if token is not None:
                approval.reset_current_session_key(token)

        return undo


def started() -> dict[str, float]:
    """Returns the state that `Host.alive` keeps during one wait."""
    now = time.monotonic()
    return {"start": now, "last_touch": now}
