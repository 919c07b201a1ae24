"""The settings in force, and changes to config.toml."""
