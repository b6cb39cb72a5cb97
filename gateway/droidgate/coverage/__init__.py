"""The ecosystem in numbers: scan many apps into a catalog, and ask it who exposes what to whom."""
