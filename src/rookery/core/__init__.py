"""Pure session logic: functions and state machines that touch no clock, file or task."""
