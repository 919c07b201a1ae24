"""The catalogue of operations over HTTP: a route for each, and the forms for their arguments."""
