"""Pictures that the daemon draws itself: QR codes, charts, the icon as PNG."""
