"""Puts a Countersign gateway in front of every tool call of Hermes Agent.

Hermes logs a plugin that fails to load and goes on without it. It catches `Exception` only, so this
file, which is kept too small to fail itself, turns every failure into the end of the process.
"""

from __future__ import annotations

from typing import Any


def register(ctx: Any) -> None:
    """Registers the hooks, or ends Hermes: without them every call would run unasked."""
    try:
        from .plugin import install

        install(ctx)
    except Exception as error:
        raise SystemExit(
            f"error: the Countersign plugin cannot load: {error}\n"
            "hint: Hermes stops, because its tool calls would run unchecked; "
            "`hermes plugins disable countersign` removes the check"
        ) from error
