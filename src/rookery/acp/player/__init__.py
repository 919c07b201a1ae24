"""An ACP agent that plays a script or a recorded session: the demo, or a bug's replay."""
