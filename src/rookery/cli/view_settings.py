"""What a person likes to see of a session; a file that cannot be used keeps nobody from looking."""

from rookery.home import config, paths


def shows_durations() -> bool:
    try:
        return config.load(paths.home()).show_tool_durations
    except config.ConfigError:
        return True
