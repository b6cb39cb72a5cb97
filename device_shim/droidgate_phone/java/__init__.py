"""Values as Java has them: intents, what passes between Android and apps, numbers and texts, `org.json`."""
