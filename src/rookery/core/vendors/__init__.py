"""The particulars of each vendor's agent: detection, profile, options, logins, errors."""
