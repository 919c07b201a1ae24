"""The catalogue of operations over HTTP: an address for each, and the forms for their arguments."""
