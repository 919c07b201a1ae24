"""An ACP agent that plays a script or a recorded session: test rig, demo, replay of a bug."""
