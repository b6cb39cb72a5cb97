"""Values against declared types: arguments and results of calls, patterns, failures.

Arguments and results are fitted to the types that a capability declares, and failures have a token. Every
protocol's calls pass here; the adapters know how they look on a wire.
"""
