"""The operations: everything that a user can do with a session or with a Rookery, defined once.
There is a file per noun, and each of its functions is an operation. The command line, the terminal
interface, the page and the API are built from these files and repeat nothing of them."""
