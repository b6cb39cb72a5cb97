"""Safe readers of text formats: strict JSON, XML without DTDs, aapt's text rules."""
