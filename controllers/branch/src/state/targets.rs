//! What the machine knows of each target on the branch.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use board::{CollectionProgress, FolderState, LayoutView, Retention};
use model::{Collection, CommitId, Layout, Millis, Now, Refusal, ResourceId, TargetKey};

use crate::message::TargetConfig;

/// What the machine knows of one target.
#[derive(Debug, Clone)]
pub struct TargetState {
    /// Its settings.
    pub config: Arc<TargetConfig>,
    /// Whether its folder can be written.
    pub folder: FolderState,
    /// Which kustomization governs its folder, once a look found out.
    pub layout: Option<LayoutView>,
    /// Objects that could not be written and still cannot.
    pub refused: BTreeMap<ResourceId, (Refusal, Option<Collection>)>,
    /// How far the first snapshot of each collection has come.
    pub collections: BTreeMap<Collection, CollectionProgress>,
    /// Objects that are gone and whose documents the prune mode kept, by collection.
    pub retained: BTreeMap<Collection, BTreeSet<ResourceId>>,
    /// When the count of kept documents last changed.
    pub retention_changed_at: Millis,
    /// The last published commit that changed the folder.
    pub last_commit: Option<CommitId>,
    /// Collections of which a change was dropped, so that only a fresh snapshot brings it back.
    pub lost: BTreeSet<Collection>,
}

/// The targets on the branch.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    states: BTreeMap<TargetKey, TargetState>,
}

impl Targets {
    /// Takes the settings of a target and says whether its folder has to be looked at.
    pub(super) fn configure(&mut self, config: TargetConfig) -> bool {
        let key = config.key.clone();
        let config = Arc::new(config);
        match self.states.get_mut(&key) {
            Some(state) => {
                let same_folder = state.config.folder == config.folder;
                if !same_folder {
                    state.layout = None;
                }
                if *state.config != *config {
                    state.reconsider_refusals();
                }
                state.config = config;
                !same_folder
            }
            None => {
                self.states.insert(key, TargetState::new(config));
                true
            }
        }
    }

    pub(super) fn withdraw(&mut self, key: &TargetKey) {
        self.states.remove(key);
    }

    pub(super) fn config(&self, key: &TargetKey) -> Option<Arc<TargetConfig>> {
        self.states.get(key).map(|state| Arc::clone(&state.config))
    }

    pub(super) fn configs(&self) -> Vec<Arc<TargetConfig>> {
        self.states
            .values()
            .map(|state| Arc::clone(&state.config))
            .collect()
    }

    /// Returns every target in the order of its key.
    pub fn all(&self) -> impl Iterator<Item = (&TargetKey, &TargetState)> {
        self.states.iter()
    }

    pub(super) fn get_mut(&mut self, key: &TargetKey) -> Option<&mut TargetState> {
        self.states.get_mut(key)
    }

    /// Forgets what is known of a collection that no longer feeds the target: a refusal of an object that nobody
    /// watches would stand for ever, and a collection that comes back starts with a snapshot.
    pub(super) fn forget_collection(&mut self, key: &TargetKey, collection: &Collection) {
        let Some(state) = self.states.get_mut(key) else {
            return;
        };
        state.collections.remove(collection);
        state.retained.remove(collection);
        state.lost.remove(collection);
        state.refused.retain(|id, _| !collection.holds(id));
    }

    /// A snapshot of the collection has arrived: what was dropped of it before comes with it.
    pub(super) fn note_queued(&mut self, key: &TargetKey, collection: &Collection) {
        if let Some(state) = self.states.get_mut(key) {
            state.lost.remove(collection);
            state
                .collections
                .entry(collection.clone())
                .or_insert(CollectionProgress::Queued);
        }
    }

    /// A change of the collection was dropped.
    pub(super) fn note_lost(&mut self, key: &TargetKey, collection: Collection) {
        if let Some(state) = self.states.get_mut(key) {
            state.lost.insert(collection);
        }
    }

    /// A job refused objects of the target under settings that it no longer has.
    pub(super) fn reconsider_refusals_of(&mut self, key: &TargetKey) {
        if let Some(state) = self.states.get_mut(key) {
            state.reconsider_refusals();
        }
    }

    /// Somebody else changed the branch: what was refused before may be writable now.
    pub(super) fn reconsider_refusals(&mut self) {
        self.states
            .values_mut()
            .for_each(TargetState::reconsider_refusals);
    }
}

impl TargetState {
    fn new(config: Arc<TargetConfig>) -> Self {
        Self {
            config,
            folder: FolderState::NotChecked,
            layout: None,
            refused: BTreeMap::new(),
            collections: BTreeMap::new(),
            retained: BTreeMap::new(),
            retention_changed_at: 0,
            last_commit: None,
            lost: BTreeSet::new(),
        }
    }

    /// What was refused may be writable now, so a fresh snapshot of its collections is asked for.
    fn reconsider_refusals(&mut self) {
        let reconsidered = self
            .refused
            .values()
            .filter_map(|(_, collection)| collection.clone());
        self.lost.extend(reconsidered);
    }

    /// Takes which kustomization a look at a commit found. Commit and time are those of the change and not of the
    /// look (RF-5).
    pub(super) fn note_layout(
        &mut self,
        now: Now,
        layout: Option<Layout>,
        commit: Option<CommitId>,
    ) {
        let Some(layout) = layout else {
            self.layout = None;
            return;
        };
        match &mut self.layout {
            Some(known) if known.layout == layout => known.commit = known.commit.take().or(commit),
            known => {
                *known = Some(LayoutView {
                    layout,
                    commit,
                    changed_at: known.is_some().then_some(now.wall),
                });
            }
        }
    }

    /// Moves a collection forward; a later snapshot never takes back that the first one was published.
    pub(super) fn advance(&mut self, collection: &Collection, to: CollectionProgress) {
        let progress = self
            .collections
            .entry(collection.clone())
            .or_insert(CollectionProgress::Queued);
        if *progress != CollectionProgress::Published {
            *progress = to;
        }
    }

    /// Returns the collections that need a fresh snapshot and could use one.
    pub fn resync_needed(&self) -> Vec<Collection> {
        let usable = !self.config.suspended && !matches!(self.folder, FolderState::Refused(_));
        if usable {
            self.lost.iter().cloned().collect()
        } else {
            Vec::new()
        }
    }

    /// Returns what the prune mode kept, once a snapshot was decided. A suspended target counts nothing.
    pub fn retention(&self) -> Option<Retention> {
        if self.retained.is_empty() || self.config.suspended {
            return None;
        }
        let mut by_type = BTreeMap::new();
        for id in self.retained.values().flatten() {
            *by_type.entry(Retention::type_key(&id.type_id)).or_default() += 1;
        }
        let mode = self.config.prune.as_str().to_owned();
        Some(Retention {
            mode,
            by_type,
            changed_at: self.retention_changed_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Actor, FolderPath, Namespace, ObjectName, RefusalCode, RefusalScope, Scope, Selector,
        TypeId,
    };

    use super::*;
    use crate::message::CommitWindow;

    fn config(encryption: Option<&str>) -> TargetConfig {
        TargetConfig {
            key: TargetKey::new(
                Namespace::new("team-a").unwrap(),
                ObjectName::new("apps").unwrap(),
            ),
            folder: FolderPath::root(),
            window: CommitWindow {
                idle: 1,
                longest: 1,
            },
            prune: manifests::PruneMode::OnEvent,
            serialize_namespace: None,
            placement: manifests::Placement::default(),
            wording: crate::message_text::Wording::default(),
            encryption: encryption.map(str::to_owned),
            suspended: false,
        }
    }

    #[test]
    fn other_settings_ask_again_for_what_was_refused() {
        let mut targets = Targets::default();
        targets.configure(config(None));
        let key = config(None).key;
        let namespace = Namespace::new("team-a").unwrap();
        let collection = Collection {
            type_id: TypeId::new("", "secrets"),
            scope: Scope::Namespace(namespace.clone()),
            selector: Selector::everything(),
        };
        let id = ResourceId {
            type_id: TypeId::new("", "secrets"),
            namespace: Some(namespace),
            name: ObjectName::new("db").unwrap(),
        };
        let refusal = Refusal {
            code: RefusalCode::EncryptionNotConfigured,
            scope: RefusalScope::Object,
            issue: None,
            object: Some(id.clone()),
            at: None,
            actor: Actor::Platform,
            message: "a sensitive object needs encryption".to_owned(),
            remedy: "set spec.encryption".to_owned(),
        };
        let state = targets.get_mut(&key).unwrap();
        state
            .refused
            .insert(id, (refusal, Some(collection.clone())));
        targets.configure(config(None));
        let needed = |targets: &mut Targets| targets.get_mut(&key).unwrap().resync_needed();
        assert_eq!(needed(&mut targets), [], "nothing is different");
        targets.configure(config(Some("for a")));
        assert_eq!(needed(&mut targets), [collection]);
    }
}
