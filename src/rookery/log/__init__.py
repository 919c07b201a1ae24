"""The log is the truth: one SQLite file per session, written by a lock's holder, read by anyone.

lock     who may write
schema   what a log file is, of which version, and how an older one is brought up
rows     an event and a header as rows, and back
headers  the header at any point of the log
store    Writer: the one that appends
reader   Reader: everyone else
place    where a home may lie
errors   everything that is raised here
"""
