"""Digests of arguments: two runs are the same only where all of their arguments are."""

from __future__ import annotations

from chainform.simulation import Event
from chainform.simulation.files.about import digests_of


def test_every_field_of_an_event_counts() -> None:
    long = "sin(q1) + cos(q1)*(1 + q2)^2 + 3*q1*q2*(q1 + q2) + sin(q1 + 2*q2)*cos(q2)*(1 + q1) - "
    events = [
        Event("q1 - 1"),
        Event("q1 - 2"),
        Event("q1 - 1", direction="rising"),
        Event("q1 - 1", stop=True),
        Event(long + "1"),
        Event(long + "2"),
        Event("q1 - 1", name="top"),
    ]
    digests = [digests_of({"events": {"e": event}})["events"] for event in events]
    assert len(set(digests)) == len(events)
    assert digests[0] == digests_of({"events": {"e": Event("q1 - 1")}})["events"]
