"""Handler skeletons: source code that parses, validates and answers a capability's calls.

What is common to all protocols is here: names in Java and Kotlin, the types of parameters, and the classes
that check arguments and call one typed method per capability. The component around it is each adapter's own.
"""
