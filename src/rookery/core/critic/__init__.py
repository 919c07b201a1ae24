"""The critic loop: a turn that ended well is judged and, if the verdict is poor, refined."""
