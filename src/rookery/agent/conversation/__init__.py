"""The SDK's conversation, built and guarded."""
