"""What commands that run a turn share."""
