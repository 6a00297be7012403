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
    /// What the schemas of a view came to, so that they are read once. A value that somebody else replaces in
    /// the meantime is read again.
    read: Arc<ArcSwap<BTreeMap<TargetKey, ReadSchemas>>>,
}

/// The defaults of one view.
#[derive(Clone)]
struct ReadSchemas {
    view: Arc<TypeCatalogView>,
    defaults: Defaults,
}

impl CatalogsByTarget {
    pub(crate) fn set(&self, readers: BTreeMap<TargetKey, Reader<TypeCatalogView>>) {
        let mut read = BTreeMap::clone(&self.read.load());
        read.retain(|target, _| readers.contains_key(target));
        self.readers.store(Arc::new(readers));
        self.read.store(Arc::new(read));
    }
}

impl Catalogs for CatalogsByTarget {
    fn of(&self, target: &TargetKey) -> Arc<TypeCatalog> {
        match self.readers.load().get(target) {
            None => Arc::default(),
            Some(reader) => Arc::new(reader.now().types.iter().collect()),
        }
    }

    fn defaults(&self, target: &TargetKey) -> Defaults {
        let Some(view) = self.readers.load().get(target).map(Reader::now) else {
            return Defaults::builtin();
        };
        let read = self.read.load();
        let known = read.get(target);
        if let Some(known) = known.filter(|known| Arc::ptr_eq(&known.view, &view)) {
            return known.defaults.clone();
        }
        let mut defaults = Defaults::builtin();
        for kind in &view.schemas {
            defaults.add_schema(&kind.type_id, &kind.version, &kind.schema);
        }
        let mut read = BTreeMap::clone(&read);
        let entry = ReadSchemas {
            view,
            defaults: defaults.clone(),
        };
        read.insert(target.clone(), entry);
        self.read.store(Arc::new(read));
        defaults
    }
}
