"""Rookery's own agent: an ACP agent on stdio, built on the OpenHands SDK, which only this package
imports."""
