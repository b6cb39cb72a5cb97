"""The one model in the middle, and every pure rule: formats, types, losses, comparisons, values, tables."""
