"""Images that the daemon renders itself: QR codes, charts, and the icon as PNG."""
