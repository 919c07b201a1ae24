"""Commands under "Manage sessions"."""
