"""Agents installed over HTTP."""
