"""The tables of facts about protocols and Android (TOML and TSV), and their typed loaders."""
