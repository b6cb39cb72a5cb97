"""APKs: reading and writing ZIP archives, compiled XML and resource tables, and signing."""
