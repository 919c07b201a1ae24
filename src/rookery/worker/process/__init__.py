"""The worker as a process: its warden, its records, its cgroup."""
