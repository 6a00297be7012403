//! Sensitive objects: their documents are compared and sealed, and never written in plain text.

use model::{DesiredObject, Location, ReadError, Refusal, RepoPath, ResourceId};
use serde_json::Value;

use super::edits::Addition;
use super::outcome::{Decision, FileContent, FileEdit, SealReason, SealedObject};
use super::planner::{Planner, is_refused};
use super::refuse;
use super::seal::{self, Held, Sealed};
use crate::folder::{Document, Made};
use crate::yaml;

impl Planner<'_, '_> {
    /// Compares a sensitive object with its encrypted document, and seals it anew where they differ (SE-3).
    pub(super) fn match_sealed(
        &mut self,
        id: &ResourceId,
        document: &Document,
        object: &DesiredObject,
    ) -> Result<Decision, ReadError> {
        let open = self.texts.open(&document.path)?;
        let (Some(text), Some(sealing)) = (open.text.as_deref(), &mut self.sealing) else {
            return Ok(Decision::refused(refuse::sensitive(id, Some(document))));
        };
        let held = Held {
            text,
            has_namespace: document.has_namespace()
                && self.policy.serialize_namespace != Some(false),
            defaults: &self.policy.defaults,
        };
        match sealing.update(object, &held) {
            Ok(Sealed::Unchanged) => Ok(Decision::NoChange),
            Ok(Sealed::New(bytes, reason)) => {
                self.reasons.push(SealedObject {
                    id: id.clone(),
                    reason,
                });
                self.sealed
                    .insert(document.path.clone(), (id.clone(), bytes));
                Ok(Decision::Edited {
                    path: document.path.clone(),
                })
            }
            Err(why) => {
                let at = Some(refuse::at_document(document));
                let message = seal::about(id, &why);
                Ok(Decision::refused(refuse::unsealed(
                    id, at, message, why.remedy,
                )))
            }
        }
    }

    /// Compares a sensitive object with the document that a base outside of the folder has of it. What nothing at hand
    /// can prove is left to whoever keeps the base.
    pub(super) fn match_base(
        &mut self,
        id: &ResourceId,
        made: &Made,
        object: &DesiredObject,
    ) -> Result<Decision, ReadError> {
        let path = self.source_of(made);
        let refused = |path: &RepoPath| {
            Decision::refused(refuse::of_object(id, refuse::sensitive_base(path)))
        };
        let Some((_, rendered)) = self.folder.object(made) else {
            return Ok(Decision::NoChange);
        };
        if rendered.node.get("sops").is_none() {
            let held = rendered.node.to_value();
            let is_same = yaml::same(&held, &self.wanted_of(rendered, &held, object));
            return Ok(if is_same {
                Decision::NoChange
            } else {
                refused(&path)
            });
        }
        let open = self.texts.open(&path)?;
        let (Some(text), Some(sealing)) = (open.text.as_deref(), &mut self.sealing) else {
            return Ok(Decision::NoChange);
        };
        let value = open.values.first().unwrap_or(&Value::Null);
        let held = Held {
            text,
            has_namespace: value.pointer("/metadata/namespace").is_some(),
            defaults: &self.policy.defaults,
        };
        Ok(match sealing.update(object, &held) {
            Ok(Sealed::New(_, SealReason::Unproven) | Sealed::Unchanged) | Err(_) => {
                Decision::NoChange
            }
            Ok(Sealed::New(..)) => refused(&path),
        })
    }

    /// Seals a new document for its path. A plain document that the object has so far goes in the same step (SE-7).
    pub(super) fn create_sealed(
        &mut self,
        path: &RepoPath,
        addition: &Addition,
    ) -> Result<Option<Refusal>, ReadError> {
        let (object, value) = (&addition.object, addition.value());
        let id = object.id();
        let mut config = None;
        for at in seal::config_paths(path) {
            if self.tree.files.get(&at).is_some() {
                config = Some((self.texts.open(&at)?, at));
                break;
            }
        }
        let Some(sealing) = &mut self.sealing else {
            return Ok(Some(refuse::sensitive(id, None)));
        };
        if let Some((open, at)) = &config
            && open.text.is_none()
        {
            return Ok(Some(refuse::unreadable_config(id, at)));
        }
        let read = config
            .as_ref()
            .map(|(open, at)| (at, open.text.as_deref().unwrap_or_default()));
        match sealing.create(object, &value, path, read) {
            Ok(bytes) => drop(self.sealed.insert(path.clone(), (id.clone(), bytes))),
            Err(why) => {
                let message = seal::about(id, &why);
                let at = why.config.map(|path| Location {
                    path,
                    line: None,
                    field: None,
                });
                return Ok(Some(refuse::unsealed(id, at, message, why.remedy)));
            }
        }
        let reason = match self.folder.find(id) {
            Some(_) => SealReason::Replaced,
            None => SealReason::New,
        };
        self.reasons.push(SealedObject {
            id: id.clone(),
            reason,
        });
        if config.is_none() {
            self.uncovered.push(id.clone());
        }
        let folder = self.folder;
        if let Some(plain) = folder.find(id) {
            let (at, index) = (plain.path.clone(), plain.index);
            let removals = &mut self.work(&at).removals;
            removals.entry(index).or_default().insert(id.clone());
        }
        Ok(None)
    }

    /// Returns the configuration of SOPS that comes with the first sealed document that no file covers (D57), or
    /// with the next one after its recipients changed, while nobody edited it (D22b).
    pub(super) fn sops_config(&mut self) -> Result<Option<FileEdit>, ReadError> {
        let path = self.policy.folder.join(sealing::sops_config::CONFIG_NAME);
        let (Some(sealing), Ok(path)) = (&self.sealing, path) else {
            return Ok(None);
        };
        let decisions = &self.decisions;
        let lands = |id: &ResourceId| !is_refused(decisions, id);
        let seals = self.reasons.iter().any(|one| lands(&one.id));
        if !self.policy.bootstrap || !seals {
            return Ok(None);
        }
        let recipients = &sealing.encryption.recipients;
        let is_due = if self.tree.files.get(&path).is_some() {
            let open = self.texts.open(&path)?;
            let text = open.text.as_deref().unwrap_or_default();
            sealing::sops_config::bootstrapped_for(text).is_some_and(|held| held != *recipients)
        } else {
            self.uncovered.iter().any(lands)
        };
        if !is_due {
            return Ok(None);
        }
        let text = sealing::sops_config::bootstrap(recipients);
        Ok(Some(FileEdit {
            path,
            content: FileContent::Plain(text.into_bytes()),
            held_secret: false,
        }))
    }
}
