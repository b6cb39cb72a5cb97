"""What Android offers to the code of an app, and what it expects of it."""
