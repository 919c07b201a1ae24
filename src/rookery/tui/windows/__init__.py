"""Everything that opens over the screen: settings, forms, lists, help."""
