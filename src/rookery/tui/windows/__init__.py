"""Windows in which things are set up: lists and forms, each checked before anything is changed."""
