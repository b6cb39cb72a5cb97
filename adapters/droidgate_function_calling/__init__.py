"""Tool lists of model vendors' APIs: OpenAI, Anthropic, Gemini."""
