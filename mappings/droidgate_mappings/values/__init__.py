"""Values against declared types: arguments and results of calls, patterns, failures.

Arguments and results are fitted to the types that a capability declares, failures carry a token, and open
requests are known by caller and id. Every protocol's calls pass here; how they look on a wire is
the adapters'.
"""
