"""The language server: the same checker behind an editor. `server` holds the conversation."""
