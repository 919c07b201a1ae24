"""Everything that a user can do with a session or with a Rookery, once: a file per noun, each of
its functions an operation. The command line, the terminal interface, the page and the API are made
from these files; none of them says again what stands here."""
