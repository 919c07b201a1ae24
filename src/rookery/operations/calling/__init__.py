"""One interface to a Rookery for all faces, and the two ways to it: the files and sockets of this
machine, or the daemon of another one."""
