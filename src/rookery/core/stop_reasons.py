"""How a turn can end: each turn has exactly one of these reasons."""

STOP_REASONS = frozenset(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"])
"""The stop reasons with which an agent can answer a prompt."""

KEEPING = frozenset(["agent_exited", "interrupted", "waiting"])
"""No decision was made: what is asked stays asked."""

REASONS = STOP_REASONS | KEEPING
REASONS |= {"failed", "forced", "rate_limited", "orphaned", "unresponsive"}
