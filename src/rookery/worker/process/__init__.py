"""The worker as an operating system process: its warden, its records, its cgroup."""
