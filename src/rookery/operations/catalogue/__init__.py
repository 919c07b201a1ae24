"""What an operation is, and how one is found. Nothing here knows a face, a file or a socket."""
