"""The conformance kit of the store: each sentence of the law in `fabula.ports.store` is a test with the same words.

An adapter's test module says `class TestMyStore(StoreKit)` and gives three fixtures: `place`, where stores can be
made, `store`, one that is open there, and `clock`, the FixedClock that this store reads.
"""

from __future__ import annotations

from fabula.testing.store_kit.audit import AuditLaw
from fabula.testing.store_kit.canon import CanonLaw
from fabula.testing.store_kit.canon_layers import CanonLayersLaw
from fabula.testing.store_kit.graph import GraphLaw
from fabula.testing.store_kit.index import IndexLaw
from fabula.testing.store_kit.lore_bundles import LoreBundlesLaw
from fabula.testing.store_kit.memories import MemoriesLaw
from fabula.testing.store_kit.npcs import NpcsLaw
from fabula.testing.store_kit.places import StorePlace
from fabula.testing.store_kit.references import ReferencesLaw
from fabula.testing.store_kit.repositories import BlobsLaw, CallsLaw, MemoLaw, UploadsLaw
from fabula.testing.store_kit.resources import ResourcesLaw
from fabula.testing.store_kit.scenes import ScenesLaw
from fabula.testing.store_kit.secrets import SecretsLaw, TokensLaw
from fabula.testing.store_kit.traces import TracesLaw
from fabula.testing.store_kit.turns import TurnsLaw
from fabula.testing.store_kit.units import UnitsLaw
from fabula.testing.store_kit.writers import WritersLaw


class StoreKit(
    ResourcesLaw,
    ReferencesLaw,
    IndexLaw,
    BlobsLaw,
    SecretsLaw,
    TokensLaw,
    UploadsLaw,
    MemoLaw,
    CallsLaw,
    UnitsLaw,
    WritersLaw,
    TurnsLaw,
    NpcsLaw,
    CanonLaw,
    GraphLaw,
    AuditLaw,
    CanonLayersLaw,
    ScenesLaw,
    TracesLaw,
    MemoriesLaw,
    LoreBundlesLaw,
):
    """The whole law."""


__all__ = ["StoreKit", "StorePlace"]
