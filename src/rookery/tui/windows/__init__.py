"""The windows that open over the screen: settings, forms, lists, help."""
