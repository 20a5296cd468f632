"""The agents that the runner knows. Variants of one agent share its hook and its cache."""

from __future__ import annotations

from agent import Agent
from claude_code import ClaudeCode
from cline import Cline
from codex import Codex
from codex_code_mode import CodexCodeMode
from copilot import Copilot, CopilotWithRules
from editor import CopilotEditor, GeminiAcp, GeminiEditor, OpenCodeAcp
from gemini import Gemini
from interactive import (
    ClaudeCodeInteractive,
    ClineInteractive,
    CodexInteractive,
    CopilotInteractive,
    GeminiInteractive,
    GeminiUntrusted,
    OpenCodeInteractive,
)
from opencode import OpenCode

AGENTS: dict[str, type[Agent]] = {
    "claude-code": ClaudeCode,
    "claude-code-interactive": ClaudeCodeInteractive,
    "cline": Cline,
    "cline-interactive": ClineInteractive,
    "codex": Codex,
    "codex-code-mode": CodexCodeMode,
    "codex-interactive": CodexInteractive,
    "copilot": Copilot,
    "copilot-editor": CopilotEditor,
    "copilot-interactive": CopilotInteractive,
    "copilot-rules": CopilotWithRules,
    "gemini": Gemini,
    "gemini-acp": GeminiAcp,
    "gemini-editor": GeminiEditor,
    "gemini-interactive": GeminiInteractive,
    "gemini-untrusted": GeminiUntrusted,
    "opencode": OpenCode,
    "opencode-acp": OpenCodeAcp,
    "opencode-interactive": OpenCodeInteractive,
}
