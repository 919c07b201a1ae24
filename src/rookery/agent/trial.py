"""Imports all that Rookery's own agent imports, in a process of its own, which `models.own_agent`
starts. It ends with the error of the import, if there is one."""

import os
import tempfile

from rookery.agent.process import sdk_import


def main() -> None:
    sdk_import.load()
    with sdk_import.surroundings():
        from rookery.agent.tools import families

        families.load([name for name in families.MODULES if name != families.BROWSER])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.environ["OH_PERSISTENCE_DIR"] = place
        main()
