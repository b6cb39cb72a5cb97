"""The 13 commands of UFO's MobileAgent, on a phone: no MCP here, only what each command does and returns.

Names, results and messages are those of UFO's own servers (reference mobile-agent 2). What differs is in the
divergence registry (`mobile-agent` rows).
"""
