"""The ways in which a call does not run, each with the words for the model.

Separate because adapters and callers need these names and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from countersign.call import Call

AWAY = (
    "The gateway that confirms actions could not be reached, so this action was not carried out. "
    "Tell the user; do not try to do it another way."
)
UNREADABLE = (
    "The gateway that confirms actions gave an answer that cannot be trusted, so this action was not "
    "carried out. Tell the user; do not try to do it another way."
)
UNFIT = (
    "A person changed the arguments of this action to ones that the tool cannot take, so it was not "
    "carried out. Tell the user."
)


class CountersignError(Exception):
    """Everything this package raises."""


class ConfigError(CountersignError):
    """No gateway or key is named, or the key would be sent in the clear."""


class NotRun(CountersignError):
    """A call was not run. `message` is for the model, `detail` for the log, `call` how it stands, if the
    gateway knows it."""

    def __init__(self, message: str, *, detail: str = "", call: Call | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.call = call


class Denied(NotRun):
    """A person denied it; `call.decision.note` is their note."""


class Refused(NotRun):
    """The gateway refused it without asking anybody."""


class Expired(NotRun):
    """Nobody answered in time, or the approval was not taken up in time."""


class Withdrawn(NotRun):
    """It was withdrawn."""


class AlreadyUsed(NotRun):
    """The approval was used by an identical call, or whether it was used cannot be known."""


class GatewayAway(NotRun):
    """The gateway could not be reached, or did not answer in time."""


class BadAnswer(NotRun):
    """The gateway's answer is not one to this call."""


class Rejected(NotRun):
    """The gateway did not take the request: the key, its role, or the form of the call is wrong."""

    def __init__(self, message: str, *, status: int, code: str, detail: str = "") -> None:
        super().__init__(message, detail=detail)
        self.status = status
        self.code = code


class Unfit(NotRun):
    """A person changed the arguments to ones that the function does not take."""
