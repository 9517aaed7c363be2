// Exists only to own the precompiled header that every other target reuses.
