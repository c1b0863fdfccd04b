"""Tags: given, moved, and taken away where they are."""

from __future__ import annotations

import pytest

from chainform.errors import StoreError
from chainform.graph import Graph
from chainform.store import Database, RevisionRecord


@pytest.fixture
def tagged(database: Database, graph: Graph) -> Database:
    """A model with two revisions, the first of them tagged."""
    database.save(graph, RevisionRecord("arm", tags=("old", "good")))
    database.save(graph, RevisionRecord("arm"))
    return database


def test_a_tag_moves(tagged: Database) -> None:
    assert tagged.tag("arm", "good").tags == ("good",)
    assert tagged.revision("arm@1").tags == ("old",)


def test_tags_are_taken_from_their_revision(tagged: Database) -> None:
    with pytest.raises(StoreError, match="good is a tag of arm@1"):
        tagged.untag("arm@2", "good")
    with pytest.raises(StoreError, match="arm has no tag new") as caught:
        tagged.untag("arm@1", "old", "new")
    assert caught.value.remedy == "its tags are good, old"
    assert tagged.revision("arm@1").tags == ("good", "old")
    tagged.untag("arm@1", "old")
    tagged.untag("arm", "good")
    assert tagged.revision("arm@1").tags == ()


def test_a_tag_can_be_reverted_to(tagged: Database) -> None:
    found = tagged.revert("arm", "old")
    assert (found.number, found.parent, found.options) == (3, 1, {"revision": 1})
    assert tagged.revert("arm", "2").parent == 2
    with pytest.raises(StoreError, match="no revision never"):
        tagged.revert("arm", "never")
