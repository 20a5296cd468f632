"""Asks people before an agent's tools run: the client of Countersign's gateway.

    client = Client(url, key=key)

    @client.guard("send_email")
    def send_email(to: str, text: str) -> None: ...

Separate modules hold the parts; this one names what users need."""

from countersign.call import Call, Decision
from countersign.client import AsyncClient, Client
from countersign.errors import (
    AlreadyUsed,
    BadAnswer,
    ConfigError,
    CountersignError,
    Denied,
    Expired,
    GatewayAway,
    NotRun,
    Refused,
    Rejected,
    Unfit,
    Withdrawn,
)

__all__ = [
    "AlreadyUsed",
    "AsyncClient",
    "BadAnswer",
    "Call",
    "Client",
    "ConfigError",
    "CountersignError",
    "Decision",
    "Denied",
    "Expired",
    "GatewayAway",
    "NotRun",
    "Refused",
    "Rejected",
    "Unfit",
    "Withdrawn",
]
__version__ = "0.1.0"
