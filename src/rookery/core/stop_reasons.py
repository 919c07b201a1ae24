"""How a turn can end: exactly one of these reasons each."""

STOP_REASONS = frozenset(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"])
"""What an agent answers a prompt with."""

KEEPING = frozenset(["agent_exited", "interrupted", "waiting"])
"""No decision was made: what is asked stays asked."""

REASONS = STOP_REASONS | KEEPING
REASONS |= {"failed", "forced", "rate_limited", "orphaned", "unresponsive"}
