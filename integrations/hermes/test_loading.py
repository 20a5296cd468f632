"""Tests how Hermes loads the plugin and how the plugin lifts Hermes' own gate, without Hermes.

Separate from test_plugin.py because nothing here needs a gateway; the modules of Hermes that the
plugin touches are replaced by small ones.
"""

from __future__ import annotations

import os
import sys
import types
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import countersign  # noqa: E402
from countersign.host import Host  # noqa: E402


class Loading(unittest.TestCase):
    """How Hermes loads it, with the few names of Hermes that it uses."""

    def hermes(self, hooks: set[str], middleware: set[str]) -> Any:
        plugins = types.ModuleType("hermes_cli.plugins")
        plugins.VALID_HOOKS = hooks  # type: ignore[attr-defined]
        plugins.VALID_MIDDLEWARE = middleware  # type: ignore[attr-defined]
        toolsets = types.ModuleType("toolsets")
        self.made: dict[str, Any] = {"hermes-cli": {}, "web": {}}
        toolsets.TOOLSETS = self.made  # type: ignore[attr-defined]
        toolsets.create_custom_toolset = (  # type: ignore[attr-defined]
            lambda name, _, includes: self.made.update({name: includes})
        )
        modules = {
            "hermes_cli": types.ModuleType("hermes_cli"),
            "hermes_cli.plugins": plugins,
            "toolsets": toolsets,
        }
        return mock.patch.dict(sys.modules, modules)

    def test_it_registers_both_gates_and_the_toolsets(self) -> None:
        hooks = {"pre_tool_call", "post_tool_call", "pre_llm_call", "subagent_start", "other"}
        context = mock.Mock()
        with self.hermes(hooks, {"tool_execution"}):
            countersign.register(context)
        registered = {call.args[0] for call in context.method_calls}
        self.assertEqual(registered, (hooks - {"other"}) | {"tool_execution"})
        self.assertEqual(self.made["countersign-cli"], ["hermes-cli"])

    def test_a_hermes_without_a_gate_is_not_started(self) -> None:
        hooks = {"pre_tool_call", "post_tool_call", "pre_llm_call", "subagent_start"}
        rows = [(hooks - {"pre_tool_call"}, {"tool_execution"}), (hooks, set())]
        for some_hooks, middleware in rows:
            with self.hermes(some_hooks, middleware), self.assertRaises(SystemExit) as ended:
                countersign.register(mock.Mock())
            self.assertIn("this version of Hermes has no", str(ended.exception))

    def test_any_failure_ends_hermes(self) -> None:
        # Without a module of Hermes, as after a rename.
        with self.assertRaises(SystemExit):
            countersign.register(mock.Mock())


class LiftingHermesGate(unittest.TestCase):
    """Hermes' own question is off while an answered call runs, and only then."""

    def setUp(self) -> None:
        self.approval = types.ModuleType("tools.approval")
        self.on: set[str] = set()
        self.key = "run_7"
        names = {
            "get_current_session_key": lambda default="": self.key,
            "is_session_yolo_enabled": lambda key: key in self.on,
            "enable_session_yolo": self.on.add,
            "disable_session_yolo": self.on.discard,
            "set_current_session_key": self.bind,
            "reset_current_session_key": self.bind,
        }
        for name, value in names.items():
            setattr(self.approval, name, value)
        tools = types.ModuleType("tools")
        tools.approval = self.approval  # type: ignore[attr-defined]
        patched = mock.patch.dict(sys.modules, {"tools": tools, "tools.approval": self.approval})
        patched.start()
        self.addCleanup(patched.stop)
        self.host = Host()

    def bind(self, key: str) -> str:
        before, self.key = self.key, key
        return before

    def test_it_is_off_for_one_call(self) -> None:
        with self.host.answered("terminal", "t1"):
            self.assertEqual(self.on, {"run_7"})
        self.assertEqual(self.on, set())

    def test_calls_that_overlap_end_it_together(self) -> None:
        first, second = self.host.answered("terminal", "t1"), self.host.answered("terminal", "t1")
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        self.assertEqual(self.on, {"run_7"})
        second.__exit__(None, None, None)
        self.assertEqual(self.on, set())

    def test_a_switch_of_the_user_stays(self) -> None:
        self.on.add("run_7")
        with self.host.answered("terminal", "t1"):
            pass
        self.assertEqual(self.on, {"run_7"})

    def test_it_ends_when_the_tool_raises(self) -> None:
        with self.assertRaises(RuntimeError), self.host.answered("execute_code", "t1"):
            raise RuntimeError
        self.assertEqual(self.on, set())

    def test_other_tools_do_not_touch_it(self) -> None:
        with self.host.answered("mcp_crm_send", "t1"):
            self.assertEqual(self.on, set())

    def test_a_session_without_a_key_is_named_by_its_task(self) -> None:
        self.key = ""
        with self.host.answered("terminal", "t1"):
            self.assertEqual((self.on, self.key), ({"t1"}, "t1"))
        self.assertEqual((self.on, self.key), (set(), ""))

    def test_a_hermes_that_has_changed_asks_a_second_time(self) -> None:
        del self.approval.enable_session_yolo
        with self.assertLogs("countersign.host"), self.host.answered("terminal", "t1"):
            self.assertEqual(self.on, set())

    def test_without_hermes_every_lookup_has_an_answer(self) -> None:
        with mock.patch.dict(sys.modules, {"tools": None, "tools.approval": None}):
            self.assertEqual(self.host.session_key(), "")
            self.assertIsNone(self.host.run_id())
            self.assertFalse(self.host.interrupted())
            self.assertEqual(self.host.as_run("terminal", {"a": "5"}), {"a": "5"})
            self.assertEqual(self.host.directory("t1"), os.getcwd())
            with self.assertLogs("countersign.host"), self.host.answered("terminal", "t1"):
                pass


if __name__ == "__main__":
    unittest.main()
