"""ACP on our own stdin and stdout: an agent that plays a script, and the bridge for editors."""
