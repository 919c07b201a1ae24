"""ACP on our own stdin and stdout: an agent that plays a script, the bridge for editors."""
