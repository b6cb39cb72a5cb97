"""A descriptor in another protocol: what `convert` gives, and from a model's call back to the capability."""
