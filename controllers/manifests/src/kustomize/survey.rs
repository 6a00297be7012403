//! One kustomization and where its entries lead.

use std::sync::Arc;

use model::files::ReadError;
use model::{Actor, FolderPath, Location, RepoPath};

use super::generator::file_source;
use super::graph::{Generator, PatchFile, Reader, Resource};
use super::issue::{Feature, Issue, location};
use super::load::{Loader, Seen};
use super::parse::{FILE_NAMES, Located};
use super::path::{Destination, follow, is_fetched, looks_fetched};
use super::read::Purpose;

/// Reads the kustomization of one folder.
pub(crate) struct Survey<'s, 'a> {
    pub(crate) loader: &'s mut Loader<'a>,
    pub(crate) folder: &'s FolderPath,
}

impl Survey<'_, '_> {
    /// Returns the kustomization, or `None` where the folder has none.
    pub(crate) fn read(&mut self) -> Result<Option<Reader>, ReadError> {
        let mut present = Vec::new();
        for name in FILE_NAMES {
            let Some(path) = Loader::in_folder(self.folder, name) else {
                continue;
            };
            match self.loader.see(&path) {
                Seen::File(_) | Seen::Opaque => present.push(path),
                Seen::Nothing | Seen::Folder => {}
            }
        }
        let Some(path) = present.first().cloned() else {
            return Ok(None);
        };
        let mut issues = Vec::new();
        if let Some(second) = present.get(1) {
            issues.push(Issue::of_author(
                Feature::RenderFailed,
                location(second, 1, None),
                format!("the folder has another kustomization, {}", path.file_name()),
                "keep one of them",
            ));
        }
        let mut reader = Reader {
            file: self.loader.id(&path),
            kustomization: Arc::default(),
            resources: Vec::new(),
            patches: Vec::new(),
            unread: Vec::new(),
            generators: Vec::new(),
            issues,
            path,
        };
        match self.loader.kustomization(&reader.path)? {
            Some(kustomization) => reader.kustomization = kustomization,
            None => reader.issues.push(unreadable(&reader.path)),
        }
        self.follow_resources(&mut reader);
        self.follow_patches(&mut reader)?;
        self.follow_inputs(&mut reader);
        Ok(Some(reader))
    }

    fn follow_resources(&mut self, reader: &mut Reader) {
        for (index, entry) in reader.kustomization.resources.iter().enumerate() {
            let field = format!("resources[{index}]");
            match self.resource(&entry.value) {
                Ok(value) => reader.resources.push(Located {
                    value,
                    at: entry.at,
                    line: entry.line,
                }),
                Err(lost) => {
                    let at = location(&reader.path, entry.line, Some(field));
                    reader
                        .issues
                        .push(lost.issue(Feature::RenderFailed, at, &entry.value));
                }
            }
        }
    }

    fn follow_patches(&mut self, reader: &mut Reader) -> Result<(), ReadError> {
        for (index, patch) in reader.kustomization.patches.iter().enumerate() {
            let field = format!("patches[{index}].path");
            match self.file(&patch.path.value) {
                Ok(path) => match self.loader.manifests(&path, Purpose::Patches)? {
                    Ok(manifests) => reader.patches.push(PatchFile {
                        file: self.loader.id(&path),
                        target: patch.target.clone(),
                        manifests,
                        path,
                    }),
                    Err(issue) => {
                        reader.issues.push(*issue);
                        reader.unread.push(path);
                    }
                },
                Err(lost) => {
                    let at = location(&reader.path, patch.path.line, Some(field));
                    let issue = lost.issue(Feature::PatchesOutsideTree, at, &patch.path.value);
                    reader.issues.push(issue);
                }
            }
        }
        Ok(())
    }

    /// Follows the inputs of generators.
    fn follow_inputs(&mut self, reader: &mut Reader) {
        for (index, entry) in reader.kustomization.config_maps.iter().enumerate() {
            let mut generator = Generator::default();
            for env in &entry.envs {
                let at = location(&reader.path, env.line, Some(way(index, "envs")));
                match self.file(&env.value) {
                    Ok(path) => generator.envs.push(path),
                    Err(lost) => {
                        let issue = lost.issue(Feature::RenderFailed, at, &env.value);
                        reader.issues.push(issue);
                    }
                }
            }
            for file in &entry.files {
                let at = location(&reader.path, file.line, Some(way(index, "files")));
                match self.input(&file.value, at) {
                    Ok(path) => generator.files.push(path),
                    Err(issue) => reader.issues.push(*issue),
                }
            }
            reader.generators.push(generator);
        }
    }

    /// Follows an item of `files:`, which may have a key before its path.
    fn input(&mut self, spec: &str, at: Location) -> Result<RepoPath, Box<Issue>> {
        match file_source(spec) {
            Ok((_, path)) => self
                .file(path)
                .map_err(|lost| lost.issue(Feature::RenderFailed, at, path).into()),
            Err(problem) => Err(Issue::of_author(
                Feature::RenderFailed,
                at,
                problem.to_string(),
                "write a path, or a key, an equals sign and a path",
            )
            .into()),
        }
    }

    fn resource(&mut self, spelled: &str) -> Result<Resource, Lost> {
        match self.follow(spelled)? {
            (Destination::Path(path), Seen::File(_)) => Ok(Resource::File(path)),
            (Destination::Path(path), Seen::Folder) => {
                let folder = FolderPath::new(path.as_str()).map_err(|_| Lost::Missing)?;
                self.kustomized(folder)
            }
            (Destination::Root, _) => self.kustomized(FolderPath::root()),
            (Destination::Path(_) | Destination::Outside | Destination::Nowhere, _) => {
                Err(Lost::Missing)
            }
        }
    }

    fn kustomized(&mut self, folder: FolderPath) -> Result<Resource, Lost> {
        let mut names = FILE_NAMES.into_iter();
        let has = names.any(|name| {
            Loader::in_folder(&folder, name)
                .is_some_and(|path| matches!(self.loader.see(&path), Seen::File(_) | Seen::Opaque))
        });
        if has {
            Ok(Resource::Folder(folder))
        } else {
            Err(Lost::NotKustomized)
        }
    }

    fn file(&mut self, spelled: &str) -> Result<RepoPath, Lost> {
        match self.follow(spelled)? {
            (Destination::Path(path), Seen::File(_)) => Ok(path),
            _ => Err(Lost::Missing),
        }
    }

    /// Follows a path and returns what is there.
    fn follow(&mut self, spelled: &str) -> Result<(Destination, Seen), Lost> {
        let destination = follow(self.folder, spelled);
        let Destination::Path(path) = &destination else {
            return match destination {
                Destination::Root => Ok((destination, Seen::Folder)),
                _ if looks_fetched(spelled) => Err(Lost::Remote),
                Destination::Outside => Err(Lost::Outside),
                Destination::Nowhere | Destination::Path(_) => Err(Lost::Missing),
            };
        };
        let seen = self.loader.see(path);
        let is_url = spelled.contains("://");
        match seen {
            Seen::File(_) if !is_url => Ok((destination, seen)),
            Seen::Folder if !is_fetched(spelled) => Ok((destination, seen)),
            _ if looks_fetched(spelled) => Err(Lost::Remote),
            _ => match self.loader.opaque(path) {
                Some(link) => Err(Lost::Opaque(link)),
                None => Err(Lost::Missing),
            },
        }
    }
}

/// Names a field of an entry of `configMapGenerator:`.
fn way(index: usize, field: &str) -> String {
    format!("configMapGenerator[{index}].{field}")
}

fn unreadable(path: &RepoPath) -> Issue {
    let at = Location {
        path: path.clone(),
        line: None,
        field: None,
    };
    Issue::of_author(
        Feature::RenderFailed,
        at,
        "the kustomization is a symbolic link, which is never followed, or larger than what is read",
        "put a file of common size in its place",
    )
}

/// Why an entry leads nowhere.
enum Lost {
    Missing,
    NotKustomized,
    Outside,
    Remote,
    Opaque(RepoPath),
}

impl Lost {
    fn issue(self, feature: Feature, at: Location, spelled: &str) -> Issue {
        match self {
            Self::Missing => Issue::of_author(
                feature,
                at,
                format!("{spelled:?} is neither a file nor a folder of the repository"),
                "correct the path, or take the entry out",
            ),
            Self::NotKustomized => Issue::of_author(
                feature,
                at,
                format!("the folder {spelled:?} has no kustomization"),
                "add one there, or name the files that you want from it",
            ),
            Self::Outside => Issue::of_author(
                feature,
                at,
                format!("{spelled:?} leads out of the repository"),
                "bring what it names into the repository",
            ),
            Self::Remote => Issue {
                actor: Actor::Nobody,
                ..Issue::of_author(
                    Feature::RemoteBase,
                    at,
                    format!("{spelled:?} would have to be fetched, and nothing is"),
                    "bring what it names into the repository and name it by its path",
                )
            },
            Self::Opaque(link) => Issue::of_author(
                feature,
                at,
                format!(
                    "{spelled:?} leads through {link}, a link or a submodule, and neither is followed"
                ),
                "name what it leads to",
            ),
        }
    }
}
