"""Adapters for agent frameworks, one module each; each needs only its own framework."""
