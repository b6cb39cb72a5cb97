"""Live calls: targets, routes, policy, approvals, pins and the audit log.

Values are checked and converted by `droidgate_mappings.values`.
"""
