//! Which kinds the cluster of each target serves, for the branch writers.

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use board::Reader;
use branch::cycle::Catalogs;
use manifests::TypeCatalog;
use manifests::plan::Defaults;
use model::TargetKey;
use source::TypeCatalogView;

/// Finds the catalog of a target through the source that it is mirrored from.
#[derive(Clone, Default)]
pub(crate) struct CatalogsByTarget {
    readers: Arc<ArcSwap<BTreeMap<TargetKey, Reader<TypeCatalogView>>>>,
    /// What each view came to, so that it is read once. A value that somebody else replaces in the meantime is
    /// read again.
    read: Arc<ArcSwap<BTreeMap<TargetKey, Known>>>,
}

/// What one view says.
#[derive(Clone)]
struct Known {
    view: Arc<TypeCatalogView>,
    types: Arc<TypeCatalog>,
    defaults: Defaults,
}

impl Known {
    fn of(view: Arc<TypeCatalogView>) -> Self {
        let mut defaults = Defaults::builtin();
        for kind in &view.schemas {
            defaults.add_schema(&kind.type_id, &kind.version, &kind.schema);
        }
        Self {
            types: Arc::new(view.types.iter().collect()),
            defaults,
            view,
        }
    }
}

impl CatalogsByTarget {
    pub(crate) fn set(&self, readers: BTreeMap<TargetKey, Reader<TypeCatalogView>>) {
        let mut read = BTreeMap::clone(&self.read.load());
        read.retain(|target, _| readers.contains_key(target));
        self.readers.store(Arc::new(readers));
        self.read.store(Arc::new(read));
    }

    fn known(&self, target: &TargetKey) -> Option<Known> {
        let view = self.readers.load().get(target).map(Reader::now)?;
        let read = self.read.load();
        let known = read.get(target);
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.view, &view)) {
            return Some(known.clone());
        }
        let known = Known::of(view);
        let mut read = BTreeMap::clone(&read);
        read.insert(target.clone(), known.clone());
        self.read.store(Arc::new(read));
        Some(known)
    }
}

impl Catalogs for CatalogsByTarget {
    fn of(&self, target: &TargetKey) -> Arc<TypeCatalog> {
        self.known(target)
            .map_or_else(Arc::default, |known| known.types)
    }

    fn defaults(&self, target: &TargetKey) -> Defaults {
        self.known(target)
            .map_or_else(Defaults::builtin, |known| known.defaults)
    }
}
