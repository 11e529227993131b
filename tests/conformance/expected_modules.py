"""Modules that do not match yet: (name, training) -> reason. One that passes fails the suite."""

EXPECTED: dict[tuple[str, bool], str] = {}
