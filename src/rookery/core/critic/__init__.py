"""The critic loop: a turn that ended well is judged, and refined."""
