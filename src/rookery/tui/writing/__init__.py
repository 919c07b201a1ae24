"""What helps a person to write: completion, history, attachments, shell lines."""
