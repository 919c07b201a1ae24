"""An ACP agent on stdio whose sessions are Rookery's: the door for editors."""
