//! Which types a cluster serves, and which of them can be followed.
//!
//! `discovery` makes the two calls, and `schemas` those for what custom kinds look like; everything else is pure. Read [`scan`] (one answer of the cluster as
//! facts), [`registry`] (what is known across answers: a failed group keeps its last facts, a vanished type
//! has a grace), [`followability`] with [`exclusion`] (the checks that a type must pass) and [`version`]
//! (which version is used when a rule names none).

pub mod exclusion;
pub mod followability;
pub mod registry;
pub mod scan;
pub mod version;

pub(crate) mod discovery;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod schemas;

use std::collections::BTreeMap;

use model::{ServedType, TypeId};

pub use followability::{Followability, Obstacle, Policy};
pub use registry::Registry;
pub use scan::{GroupVersionScan, ResourceScope, Scan, ServedResource};
pub use schemas::KindSchema;

/// Every type that a cluster serves, in every version, as it is read by whoever has to recognise documents.
/// Sorted by type; of one type the preferred version comes first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeCatalogView {
    /// The types, also those that are never mirrored.
    pub types: Vec<ServedType>,
    /// The schemas of custom kinds, as far as they could be read.
    pub schemas: Vec<KindSchema>,
}

/// One version of one type, and whether it can be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogVersion {
    /// The type in this version.
    pub served: ServedType,
    /// Whether it can be followed.
    pub followability: Followability,
}

/// What a cluster serves, judged. The input of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    types: BTreeMap<TypeId, Vec<CatalogVersion>>,
    obstructed: BTreeMap<TypeId, Vec<Obstacle>>,
}

impl Catalog {
    /// Puts a version into the catalog, behind the versions of the type that are preferred to it.
    pub(crate) fn insert(&mut self, version: CatalogVersion) {
        let versions = self.types.entry(version.served.type_id.clone());
        versions.or_default().push(version);
    }

    /// Notes a type that cannot even be described, because its kind or scope is not known.
    pub(crate) fn insert_obstructed(&mut self, type_id: TypeId, obstacles: Vec<Obstacle>) {
        self.obstructed.insert(type_id, obstacles);
    }

    /// Returns every type with its versions, the preferred one first.
    pub fn types(&self) -> impl Iterator<Item = (&TypeId, &[CatalogVersion])> {
        self.types
            .iter()
            .map(|(type_id, versions)| (type_id, versions.as_slice()))
    }

    /// Returns what keeps a type out that cannot even be described.
    pub fn obstructed(&self) -> impl Iterator<Item = (&TypeId, &[Obstacle])> {
        self.obstructed
            .iter()
            .map(|(type_id, obstacles)| (type_id, obstacles.as_slice()))
    }

    /// Counts the types of which at least one version can be followed.
    pub fn followable(&self) -> usize {
        let can_be_watched = |versions: &&Vec<CatalogVersion>| {
            versions
                .iter()
                .any(|version| version.followability.is_watched())
        };
        self.types.values().filter(can_be_watched).count()
    }

    /// Counts the types of which no version can be followed.
    pub fn excluded(&self) -> usize {
        self.types.len() + self.obstructed.len() - self.followable()
    }

    /// Returns the types as the board publishes them, without schemas.
    pub fn view(&self) -> TypeCatalogView {
        let versions = self.types.values().flatten();
        TypeCatalogView {
            types: versions.map(|version| version.served.clone()).collect(),
            schemas: Vec::new(),
        }
    }
}
