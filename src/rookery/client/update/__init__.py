"""Updates: what becomes of the workers that an older build started."""
