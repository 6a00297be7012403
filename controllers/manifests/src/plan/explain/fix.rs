//! The smallest change that lifts a refusal: candidates in order, of which the first that helps is told.

use model::{
    Actor, DesiredObject, IssueKind, ReadError, Refusal, RefusalCode, RefusalScope, RepoPath,
};

use super::super::intent::Intent;
use super::super::outcome::{FileContent, FileEdit};
use super::super::policy::Policy;
use super::super::texts::Texts;
use super::super::wishes::Wish;
use super::rewrite::{Candidate, candidates};
use super::trial::Trial;
use super::{Case, Change, Fix, Ground};
use crate::folder::{AcceptedFolder, Document};
use crate::ignore::{self, IgnoreRules};
use crate::placement::{Site, Subject, Template, TypeKey};
use crate::yaml;

/// Paths that are each free for one object of a type, the plainest first.
const TEMPLATES: [&str; 2] = [
    "{namespace}/{group}/{resource}/{name}{sensitiveSuffix}",
    "{namespace}/{group}/{resource}-{name}{sensitiveSuffix}",
];

/// For more refusals than this no fix is looked for: each costs a plan, and nobody reads them all.
const MOST: usize = 20;

/// Finds fixes for the refusals of one plan.
pub(super) struct Fixes<'a> {
    asked: usize,
    ground: Ground<'a>,
    trial: Option<Trial<'a>>,
    texts: Texts<'a>,
}

impl<'a> Fixes<'a> {
    pub(super) fn new(ground: Ground<'a>) -> Self {
        Self {
            asked: 0,
            ground,
            trial: None,
            texts: Texts::new(ground.tree),
        }
    }

    /// The folder is copied for the first question, because most plans have none.
    fn trial(&mut self) -> &mut Trial<'a> {
        let Ground {
            tree,
            policy,
            folder,
            ..
        } = self.ground;
        self.trial
            .get_or_insert_with(|| Trial::new(tree, policy, folder))
    }

    fn text(&mut self, path: &RepoPath) -> Result<Option<String>, ReadError> {
        Ok(self.texts.open(path)?.text.clone())
    }

    fn file(&self, path: &RepoPath, action: String, text: Option<String>) -> Fix {
        let content = match text {
            Some(text) => FileContent::Plain(text.into_bytes()),
            None => FileContent::Removed,
        };
        Fix {
            action,
            change: Change::File(FileEdit {
                path: path.clone(),
                content,
                held_secret: self.ground.folder.holds_plain_secret(path),
            }),
        }
    }

    /// Proposes a text for a file that an object is built from, where the object lands with it.
    pub(super) fn of_input(
        &mut self,
        path: &RepoPath,
        text: String,
        wish: &Intent,
    ) -> Result<Option<Fix>, ReadError> {
        self.asked += 1;
        if self.asked > MOST || !self.trial().text_helps(path, &text, wish)? {
            return Ok(None);
        }
        let action = format!("write the live value into {path}, which supplies it");
        Ok(Some(self.file(path, action, Some(text))))
    }

    /// Returns the text of a file.
    pub(super) fn text_of(&mut self, path: &RepoPath) -> Result<Option<String>, ReadError> {
        self.text(path)
    }

    /// Finds a fix for one object of an accepted folder.
    pub(super) fn of_object(
        &mut self,
        case: &Case<'_>,
        folder: AcceptedFolder<'_>,
    ) -> Result<Option<Fix>, ReadError> {
        self.asked += 1;
        if self.asked > MOST {
            return Ok(None);
        }
        if case.refusal.scope == RefusalScope::Placement {
            return self.template(case, folder);
        }
        match case.refusal.code {
            RefusalCode::RenderDoesNotMatchLive | RefusalCode::WriteBoundaryRefused => {
                self.document(case)
            }
            RefusalCode::IgnoreShadowsManagedPath => self.unhide(case, folder),
            RefusalCode::MultipleSourceNamespaces => Ok(Some(setting(
                "leave spec.serializeNamespace out, so that each document carries its namespace",
                "spec.serializeNamespace",
                None,
            ))),
            RefusalCode::EncryptionNotConfigured => Ok(self.encryption(case)),
            _ => Ok(None),
        }
    }

    /// Takes the first text of the document's file with which the object would land.
    fn document(&mut self, case: &Case<'_>) -> Result<Option<Fix>, ReadError> {
        let Some(document) = case.document else {
            return Ok(None);
        };
        let wish = intent(case);
        for Candidate { action, text } in candidates(case) {
            if self.trial().text_helps(&document.path, &text, &wish)? {
                return Ok(Some(self.file(&document.path, action, Some(text))));
            }
        }
        Ok(None)
    }

    /// Brings one path back into sight, or takes out the pattern that hides it.
    fn unhide(
        &mut self,
        case: &Case<'_>,
        folder: AcceptedFolder<'_>,
    ) -> Result<Option<Fix>, ReadError> {
        let Some(at) = &case.refusal.at else {
            return Ok(None);
        };
        let found = (
            folder.shadow(&at.path),
            self.ground.policy.folder.strip(&at.path),
        );
        let (Some(shadow), Some(below)) = found else {
            return Ok(None);
        };
        let Ok(rules) = RepoPath::new(shadow.rules) else {
            return Ok(None);
        };
        let text = self.text(&rules)?.unwrap_or_default();
        let line = format!("!{}", ignore::pattern_of(below));
        let more = Candidate {
            action: format!("add the line {line} to {rules}"),
            text: with_line(&text, &line),
        };
        let less = Candidate {
            action: format!("take line {} out of {rules}", shadow.line),
            text: without_line(&text, shadow.line),
        };
        for Candidate { action, text } in [more, less] {
            let shows = |text: &str| {
                IgnoreRules::parse(text).is_ok_and(|rules| !rules.is_ignored(below, false))
            };
            if shows(&text) && self.trial().issues(&rules, &text)? == 0 {
                return Ok(Some(self.file(&rules, action, Some(text))));
            }
        }
        Ok(None)
    }

    fn encryption(&self, case: &Case<'_>) -> Option<Fix> {
        let Wish::Upsert(object) = case.wish else {
            return None;
        };
        if !object.is_sensitive() {
            let name = "--additional-sensitive-resources";
            let resource = resource(object);
            let action = format!("declare {resource} sensitive with {name}");
            return Some(setting(action, name, Some(resource)));
        }
        // Why a sealed document cannot be written is told by the refusal; no setting of the target helps.
        (!self.ground.can_seal).then(|| {
            setting(
                "name the age recipients in spec.encryption.age.recipients of the target, and turn encryption on",
                "spec.encryption.age.enabled",
                Some("true".to_owned()),
            )
        })
    }

    /// Gives the type a template of its own.
    fn template(
        &mut self,
        case: &Case<'_>,
        folder: AcceptedFolder<'_>,
    ) -> Result<Option<Fix>, ReadError> {
        let Wish::Upsert(object) = case.wish else {
            return Ok(None);
        };
        let key = TypeKey::of(object.served());
        for text in TEMPLATES {
            let Ok(template) = Template::parse(text) else {
                continue;
            };
            let mut policy = self.ground.policy.clone();
            policy.placement = policy.placement.with_template(key.clone(), template);
            let helps = if object.is_sensitive() {
                self.is_free(object, &policy, folder)
            } else {
                self.trial().policy_helps(&policy, &intent(case))?
            };
            if helps {
                let name = format!("spec.placement.byType[{key}]");
                let action = format!("set {name} to {text}");
                return Ok(Some(setting(action, &name, Some(text.to_owned()))));
            }
        }
        Ok(None)
    }

    /// Says whether an object would get a path of its own. One that has to be sealed cannot be tried out.
    fn is_free(&self, object: &DesiredObject, policy: &Policy, folder: AcceptedFolder<'_>) -> bool {
        let site = Site {
            folder: &policy.folder,
            root: None,
        };
        let value = object.value();
        let placed = policy.placement.place(Subject::of(object, &value), site);
        placed.is_ok_and(|placed| {
            self.ground.tree.files.get(&placed.path).is_none()
                && !self.ground.tree.files.is_folder(&placed.path)
                && folder.shadow(&placed.path).is_none()
        })
    }

    /// Finds a fix for one of so many issues of a folder.
    pub(super) fn of_issue(
        &mut self,
        issue: &Refusal,
        issues: usize,
    ) -> Result<Option<Fix>, ReadError> {
        let (Some(kind), Some(at)) = (issue.issue, &issue.at) else {
            return Ok(None);
        };
        self.asked += 1;
        if issue.actor != Actor::Author || self.asked > MOST {
            return Ok(None);
        }
        match (kind, at.line) {
            (IssueKind::NonKrmYaml | IssueKind::InvalidYaml, _) => self.ignore(&at.path),
            (IssueKind::DuplicateIdentity, Some(line)) => self.remove(&at.path, line, issues),
            (IssueKind::ImpureManagedFile, _) if at.field.is_none() => {
                self.remove_empty(&at.path, issues)
            }
            (IssueKind::IgnoreShadowsManaged, Some(line)) => {
                let text = without_line(&self.text(&at.path)?.unwrap_or_default(), line);
                let action = format!("take line {line} out of {}", at.path);
                self.lifts(&at.path, action, Some(text), issues)
            }
            _ => Ok(None),
        }
    }

    /// Offers a change where the folder has fewer issues with it.
    fn lifts(
        &mut self,
        path: &RepoPath,
        action: String,
        text: Option<String>,
        issues: usize,
    ) -> Result<Option<Fix>, ReadError> {
        // An empty file holds as little as one that is gone.
        let left = self
            .trial()
            .issues(path, text.as_deref().unwrap_or_default())?;
        Ok((left < issues).then(|| self.file(path, action, text)))
    }

    fn ignore(&mut self, path: &RepoPath) -> Result<Option<Fix>, ReadError> {
        let folder = &self.ground.policy.folder;
        let (Some(below), Ok(rules)) = (folder.strip(path), folder.join(".gittargetignore")) else {
            return Ok(None);
        };
        let line = ignore::pattern_of(below);
        let text = with_line(&self.text(&rules)?.unwrap_or_default(), &line);
        let hides = IgnoreRules::parse(&text).is_ok_and(|rules| rules.is_ignored(below, false));
        let action = format!("add the line {line} to {rules}");
        Ok(hides.then(|| self.file(&rules, action, Some(text))))
    }

    /// Takes out the document whose name stands in a line.
    fn remove(
        &mut self,
        path: &RepoPath,
        line: u32,
        issues: usize,
    ) -> Result<Option<Fix>, ReadError> {
        let of_file = |document: &&Document| document.path == *path;
        let documents: Vec<&Document> = self.ground.folder.documents().filter(of_file).collect();
        let Some(document) = documents.iter().find(|one| one.name_line == line) else {
            return Ok(None);
        };
        if documents.len() == 1 {
            let action = format!("remove {path}");
            return self.lifts(path, action, None, issues);
        }
        let text = self.text(path)?.unwrap_or_default();
        let Ok(text) = yaml::remove(&text, &[document.index]) else {
            return Ok(None);
        };
        let action = format!("take out the document in line {} of {path}", document.line);
        self.lifts(path, action, Some(text), issues)
    }

    /// Takes out the documents of a file that hold nothing. A file that holds something unknown is not shown.
    fn remove_empty(&mut self, path: &RepoPath, issues: usize) -> Result<Option<Fix>, ReadError> {
        let of_file = |document: &&Document| document.path == *path;
        let known = self.ground.folder.documents().filter(of_file).count();
        let text = self.text(path)?.unwrap_or_default();
        let Ok(readings) = yaml::read(&text) else {
            return Ok(None);
        };
        let empty: Vec<usize> = (0..readings.len())
            .filter(|index| readings[*index].is_empty)
            .collect();
        let removed = yaml::remove(&text, &empty);
        match removed {
            Ok(text) if known + empty.len() == readings.len() => {
                let action = format!("take the empty documents out of {path}");
                self.lifts(path, action, Some(text), issues)
            }
            Ok(_) | Err(_) => Ok(None),
        }
    }
}

fn setting(action: impl Into<String>, name: &str, value: Option<String>) -> Fix {
    Fix {
        action: action.into(),
        change: Change::Setting {
            name: name.to_owned(),
            value,
        },
    }
}

/// Wishes for one object alone what the batch wished for it.
fn intent(case: &Case<'_>) -> Intent {
    match case.wish {
        Wish::Upsert(object) => Intent::Upsert(object.clone()),
        Wish::Remove(_) => Intent::Remove {
            id: case.id.clone(),
        },
    }
}

fn resource(object: &DesiredObject) -> String {
    let id = &object.served().type_id;
    if id.group.is_empty() {
        id.resource.to_string()
    } else {
        format!("{}/{}", id.group, id.resource)
    }
}

/// Adds a line to a text.
fn with_line(text: &str, line: &str) -> String {
    let is_open = !text.is_empty() && !text.ends_with('\n');
    format!("{text}{}{line}\n", if is_open { "\n" } else { "" })
}

/// Takes a line, counted from 1, out of a text.
fn without_line(text: &str, line: u32) -> String {
    let lines = (1..).zip(text.split_inclusive('\n'));
    lines
        .filter(|(number, _)| *number != line)
        .map(|(_, line)| line)
        .collect()
}
