//! Which kinds exist, so that a document can be joined with a live object.

use std::collections::BTreeMap;

use model::{ServedType, TypeId};

/// What a server serves: API group and kind to resource. A document of a kind that is not listed keeps its bytes
/// (IX-10), and is never a reason to refuse the folder (PI-3).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TypeCatalog {
    kinds: BTreeMap<(String, String), KnownType>,
}

/// One kind of the catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownType {
    /// Group and resource.
    pub type_id: TypeId,
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// Whether its objects must be encrypted before they are written.
    pub sensitive: bool,
}

impl TypeCatalog {
    /// Adds a type, whatever version it is served in.
    pub fn insert(&mut self, served: &ServedType) {
        let key = (served.type_id.group.clone(), served.kind.clone());
        let known = KnownType {
            type_id: served.type_id.clone(),
            namespaced: served.namespaced,
            sensitive: served.sensitive,
        };
        self.kinds.insert(key, known);
    }

    /// Finds the type of a document by its API group and kind.
    pub fn find(&self, group: &str, kind: &str) -> Option<&KnownType> {
        self.kinds.get(&(group.to_owned(), kind.to_owned()))
    }

    /// Says whether no type is known at all.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

impl<'a> FromIterator<&'a ServedType> for TypeCatalog {
    fn from_iter<I: IntoIterator<Item = &'a ServedType>>(types: I) -> Self {
        let mut catalog = Self::default();
        for served in types {
            catalog.insert(served);
        }
        catalog
    }
}
