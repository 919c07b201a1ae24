"""The daemon as a process: started, listening, announced, stopped."""
