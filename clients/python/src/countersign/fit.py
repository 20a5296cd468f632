"""Fits a function's parameters to the arguments of a call, and back.

Separate because what a person approved may have been changed: the way back must leave nothing out and
add nothing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from countersign.call import Call
from countersign.errors import UNFIT, Unfit

_POSITIONAL, _REST, _NAMED = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)


class Fit:
    """The parameters of one function."""

    def __init__(self, function: Callable[..., Any], pass_token: str | None, injected: tuple[str, ...]) -> None:
        self._signature = inspect.signature(function)
        self._parameters = self._signature.parameters
        self._pass_token = pass_token
        self._aside = set(injected) | ({pass_token} if pass_token else set())
        if any(it.kind is _REST for it in self._parameters.values()):
            raise TypeError("a function with *args cannot be guarded: its arguments have no names")
        self._named = next((name for name, it in self._parameters.items() if it.kind is _NAMED), None)
        unknown = self._aside - set(self._parameters)
        if unknown and self._named is None:
            raise TypeError(f"the function has no parameter {min(unknown)}")

    def split(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Returns the arguments of the call, and those that are no part of it. Defaults are filled in: a person
        sees everything that runs."""
        if self._pass_token is not None:
            kwargs = {**kwargs, self._pass_token: None}
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given: dict[str, Any] = dict(bound.arguments)
        more = given.pop(self._named, {}) if self._named else {}
        if given.keys() & more.keys():
            raise TypeError("two arguments have the same name")
        given |= more
        aside = {name: given.pop(name) for name in self._aside if name in given}
        return given, aside

    def bind(self, call: Call, aside: Mapping[str, Any]) -> inspect.BoundArguments:
        """Returns how to run the function with exactly what was approved."""
        values = {**call.args, **aside}
        if self._pass_token is not None:
            values[self._pass_token] = call.token
        wanted = {name for name, it in self._parameters.items() if it.kind is not _NAMED}
        if wanted - values.keys() or call.args.keys() & self._aside:
            raise Unfit(UNFIT, detail="an argument is missing or is not the caller's to give", call=call)
        if self._named is None and values.keys() - wanted:
            raise Unfit(UNFIT, detail="the function has no such argument", call=call)
        first = [values.pop(name) for name, it in self._parameters.items() if it.kind is _POSITIONAL]
        return self._signature.bind(*first, **values)
