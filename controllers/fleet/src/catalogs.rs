//! Which kinds the cluster of each target serves, for the branch writers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use board::Reader;
use branch::cycle::Catalogs;
use manifests::TypeCatalog;
use model::TargetKey;
use source::TypeCatalogView;

/// Finds the catalog of a target through the source that it is mirrored from.
#[derive(Clone, Default)]
pub(crate) struct CatalogsByTarget {
    readers: Arc<ArcSwap<BTreeMap<TargetKey, Reader<TypeCatalogView>>>>,
}

impl CatalogsByTarget {
    pub(crate) fn set(&self, readers: BTreeMap<TargetKey, Reader<TypeCatalogView>>) {
        self.readers.store(Arc::new(readers));
    }
}

impl Catalogs for CatalogsByTarget {
    fn of(&self, target: &TargetKey) -> Arc<TypeCatalog> {
        match self.readers.load().get(target) {
            None => Arc::default(),
            Some(reader) => Arc::new(reader.now().types.iter().collect()),
        }
    }
}
