"""Version 2 of the protocol, as its draft is in SDK 2.4.0, turned into version 1 and back."""
