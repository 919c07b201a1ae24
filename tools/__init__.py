"""What is run by hand or by the tests, and never by Rookery itself."""
