"""Shell command lines as a shell would read them: rules and the guard judge what a line runs, not
the words that happen to stand in it."""
