"""Parts of an app that the reader leaves out are dropped, not only read."""

from adapters.mmcp.mmcp_apps import application, component_xml, read_app
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Level
from droidgate_mmcp.discovery import read_discovery


def test_a_component_without_a_manifest_is_dropped() -> None:
    (finding,) = read_app(application(component_xml(None))).findings
    assert (finding.rule, finding.level) == ("S54", Level.DROPPED)


def test_parameters_that_cannot_be_read_are_dropped() -> None:
    context = ReadingContext()
    answer = {"tools": ["bad"], "bad.parameters": "{"}
    read_discovery(answer, context, place=Place(path="answer"), package="a.b", component=".R")
    assert [(finding.rule, finding.level) for finding in context.findings] == [("M50", Level.DROPPED)]
