"""One file for each command."""

COMPLETING = "_ROOKERY_COMPLETE"
"""In the environment: a shell wants to know how a word may go on."""

TOPIC = "rookery.help.topic"
"""In a context's `meta`: which list of commands the help prints; nothing: its first page."""
ALL = "all"
TOPICS = {
    "sessions": ("Start and talk", "Look", "Manage sessions"),
    "setup": ("Setup", "Other"),
    "remote": ("Remote access",),
}
"""Lists of commands, each with its headings; `ALL` has all of them."""
