"""Whether Ctrl-C was pressed; a module that loads nothing, as Ctrl-C must work from the first import on."""


class CtrlC:
    """Whether the user pressed Ctrl-C in this process.

    What it raises may turn up as another failure: where a class is made, Python before 3.12 puts it into a
    RuntimeError and pydantic into the text of a SchemaError, and some callbacks cannot raise it at all.
    """

    was_pressed = False
