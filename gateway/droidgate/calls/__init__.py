"""A call from request to record, the half with input and output: policy, pins, routes and the audit log.

Arguments and results are the concern of `droidgate_mappings.values`, which does neither.
"""
