"""Runs git on a repository that anybody may have written, without running anything that its
configuration names. Git never reads that configuration; it gets a directory of ours that leads to
the repository's objects, refs and index, with the plain settings alone."""
