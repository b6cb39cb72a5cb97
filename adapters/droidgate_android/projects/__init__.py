"""The files of an app's source tree: Gradle builds, Java text, and one safe way to read them."""
