"""The checks of `rookery doctor`: of the home, and of agents, one by one."""
