"""One interface to a Rookery for all faces, and its two implementations: the files and sockets of
this machine, and the daemon of another one."""
