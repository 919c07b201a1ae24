"""Operating system processes: who descends from whom, and how a whole tree is ended."""

from rookery.processes.lineage import LINUX, MARK, become_subreaper, die_with_parent, home_tag

__all__ = ["LINUX", "MARK", "become_subreaper", "die_with_parent", "home_tag"]
