//! Follows one kind on the control cluster: keeps its store and says what changed.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

use futures::{StreamExt, pin_mut};
use kube::runtime::WatchStreamExt;
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;

/// How one object was and how it is now.
#[derive(Debug)]
pub(crate) struct Change<K> {
    /// Before; `None` when it appeared.
    pub(crate) before: Option<Arc<K>>,
    /// Now; `None` when it is gone.
    pub(crate) after: Option<Arc<K>>,
}

impl<K: Resource> Change<K> {
    /// Returns the object, as it is now or as it was last.
    pub(crate) fn object(&self) -> Option<&Arc<K>> {
        self.after.as_ref().or(self.before.as_ref())
    }

    /// Says whether something that `view` picks differs, or the object appeared or is gone.
    pub(crate) fn differs<T: PartialEq>(&self, view: impl Fn(&K) -> T) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => view(before) != view(after),
            (None, None) => false,
            (Some(_), None) | (None, Some(_)) => true,
        }
    }
}

/// Follows a kind for ever, calling `changed` after the store has taken each change in. A broken watch is
/// opened again with backoff; what changed meanwhile is reported then.
pub(crate) async fn follow<K, F>(
    api: Api<K>,
    mut store: Writer<K>,
    mut changed: impl FnMut(Change<K>) -> F,
) where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned + Send + Sync + 'static,
    F: Future<Output = ()>,
{
    let events = watcher(api, watcher::Config::default()).default_backoff();
    pin_mut!(events);
    let reader = store.as_reader();
    let mut listed: BTreeMap<String, Arc<K>> = BTreeMap::new();
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => without_bookkeeping(event),
            Err(error) => {
                tracing::warn!(kind = %K::kind(&()), %error, "cannot follow; trying again");
                continue;
            }
        };
        let before = match &event {
            Event::Apply(object) | Event::Delete(object) => reader.get(&object.into()),
            Event::Init | Event::InitApply(_) | Event::InitDone => None,
        };
        if matches!(event, Event::InitDone) {
            listed = by_name(reader.state());
        }
        store.apply_watcher_event(&event);
        match event {
            Event::Apply(object) => {
                let after = Some(Arc::new(object));
                changed(Change { before, after }).await;
            }
            Event::Delete(object) => {
                let before = before.or_else(|| Some(Arc::new(object)));
                changed(Change {
                    before,
                    after: None,
                })
                .await;
            }
            Event::InitDone => {
                for change in differences(std::mem::take(&mut listed), by_name(reader.state())) {
                    changed(change).await;
                }
            }
            Event::Init | Event::InitApply(_) => {}
        }
    }
}

/// Drops `managedFields`, which nobody reads and which are most of an object.
fn without_bookkeeping<K: Resource>(event: Event<K>) -> Event<K> {
    let strip = |mut object: K| {
        object.meta_mut().managed_fields = None;
        object
    };
    match event {
        Event::Apply(object) => Event::Apply(strip(object)),
        Event::Delete(object) => Event::Delete(strip(object)),
        Event::InitApply(object) => Event::InitApply(strip(object)),
        Event::Init => Event::Init,
        Event::InitDone => Event::InitDone,
    }
}

fn by_name<K: ResourceExt>(objects: Vec<Arc<K>>) -> BTreeMap<String, Arc<K>> {
    let named = |object: Arc<K>| {
        (
            format!(
                "{}/{}",
                object.namespace().unwrap_or_default(),
                object.name_any()
            ),
            object,
        )
    };
    objects.into_iter().map(named).collect()
}

/// Compares two complete lists.
fn differences<K: ResourceExt>(
    mut before: BTreeMap<String, Arc<K>>,
    after: BTreeMap<String, Arc<K>>,
) -> Vec<Change<K>> {
    let mut changes = Vec::new();
    for (name, object) in after {
        let old = before.remove(&name);
        let same = old
            .as_ref()
            .is_some_and(|old| old.resource_version() == object.resource_version());
        if !same {
            changes.push(Change {
                before: old,
                after: Some(object),
            });
        }
    }
    let gone = before.into_values().map(|object| Change {
        before: Some(object),
        after: None,
    });
    changes.extend(gone);
    changes
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn list(objects: &[(&str, &str)]) -> BTreeMap<String, Arc<ConfigMap>> {
        let objects = objects.iter().map(|(name, version)| {
            let mut object = ConfigMap::default();
            object.metadata.name = Some((*name).to_owned());
            object.metadata.resource_version = Some((*version).to_owned());
            Arc::new(object)
        });
        by_name(objects.collect())
    }

    #[test]
    fn a_new_list_reports_what_came_what_changed_and_what_went() {
        let changes = differences(
            list(&[("same", "1"), ("changed", "1"), ("gone", "1")]),
            list(&[("same", "1"), ("changed", "2"), ("new", "1")]),
        );
        let told: Vec<_> = changes
            .iter()
            .map(|change| {
                let name = change.object().unwrap().name_any();
                (name, change.before.is_some(), change.after.is_some())
            })
            .collect();
        let expected = [
            ("changed", true, true),
            ("new", false, true),
            ("gone", true, false),
        ];
        assert_eq!(
            told,
            expected.map(|(name, before, after)| (name.to_owned(), before, after))
        );
    }
}
