"""What the golden files are taken of: a home and a daemon that the tests of a file share."""

from tests.daemon.conftest import module_home, served

__all__ = ["module_home", "served"]
