"""The bridge for editors: an ACP agent on stdio whose sessions are Rookery's."""
