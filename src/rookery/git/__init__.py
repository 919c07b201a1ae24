"""Git, asked about a repository that anybody may have written: nothing that its configuration names
is run. Git never reads that configuration; it gets a directory of ours that leads to the
repository's objects, refs and index, with the plain settings alone."""
