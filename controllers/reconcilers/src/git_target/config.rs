//! The settings of a GitTarget in the words of the branch writer. Pure.

use branch::message_text::{Sources, Wording};
use branch::{CommitWindow, TargetConfig};
use crds::GitTarget;
use crds::git_target::PruneMode;
use manifests::Placement;
use model::{FolderPath, Millis, Sensitivity, TargetKey};

/// The silence after which a window closes when nothing is said.
const DEFAULT_IDLE: Millis = 5_000;
/// How long a window stays open when nothing is said.
const DEFAULT_LONGEST: Millis = 60_000;

/// Reads the settings, or lists everything that is wrong with them. Placement is judged against the types that
/// hold secrets; for whom they are encrypted is not known here.
pub(super) fn read(
    key: &TargetKey,
    target: &GitTarget,
    sensitivity: &Sensitivity,
) -> Result<TargetConfig, Vec<String>> {
    let mut problems = Vec::new();
    let wording = Wording::read(&templates(target)).unwrap_or_else(|found| {
        problems.extend(found.iter().map(ToString::to_string));
        Wording::default()
    });
    let placement = placement(target, sensitivity).unwrap_or_else(|found| {
        problems.extend(found.iter().map(ToString::to_string));
        Placement::default()
    });
    let folder = FolderPath::new(&target.spec.path).map_err(|error| error.to_string());
    let window = window(target);
    if window.idle > window.longest {
        problems.push(
            "spec.commit.window.idleTimeout is longer than maxDuration; shorten it".to_owned(),
        );
    }
    match folder {
        Ok(folder) if problems.is_empty() => Ok(TargetConfig {
            key: key.clone(),
            folder,
            window,
            prune: prune(target),
            serialize_namespace: target.spec.serialize_namespace,
            placement,
            wording,
            encryption: None,
            suspended: target.spec.suspend.unwrap_or(false),
        }),
        Ok(_) => Err(problems),
        Err(problem) => {
            problems.insert(0, format!("spec.path: {problem}"));
            Err(problems)
        }
    }
}

fn window(target: &GitTarget) -> CommitWindow {
    let window = target
        .spec
        .commit
        .as_ref()
        .and_then(|commit| commit.window.as_ref());
    let longest = window.and_then(|window| window.max_duration.as_ref());
    let longest = longest.map_or(DEFAULT_LONGEST, crds::GoDuration::millis);
    let idle = window.and_then(|window| window.idle_timeout.as_ref());
    let idle = idle.map_or(DEFAULT_IDLE.min(longest), crds::GoDuration::millis);
    CommitWindow { idle, longest }
}

/// Returns which absences remove a document.
pub fn prune(target: &GitTarget) -> manifests::PruneMode {
    let mode = target.spec.prune.as_ref().and_then(|prune| prune.mode);
    match mode.unwrap_or(PruneMode::OnEvent) {
        PruneMode::Never => manifests::PruneMode::Never,
        PruneMode::OnEvent => manifests::PruneMode::OnEvent,
        PruneMode::Always => manifests::PruneMode::Always,
    }
}

/// Reads where new documents go.
///
/// # Errors
/// Returns every fault of the declaration, with the field that it stands in.
pub fn placement(
    target: &GitTarget,
    sensitivity: &Sensitivity,
) -> Result<Placement, Vec<manifests::placement::Problem>> {
    let Some(declared) = &target.spec.placement else {
        return Ok(Placement::default());
    };
    let by_type = declared.by_type.iter().flatten();
    Placement::read(
        by_type.map(|(key, template)| (key.as_str(), template.as_str())),
        declared.default.as_deref(),
        declared.use_kustomize,
        sensitivity,
    )
}

/// Returns the templates as they are written.
fn templates(target: &GitTarget) -> Sources {
    let message = target
        .spec
        .commit
        .as_ref()
        .and_then(|commit| commit.message.as_ref());
    message.map_or_else(Sources::default, |message| Sources {
        live: message.live_template.clone(),
        reconcile: message.reconcile_template.clone(),
        request: message.request_template.clone(),
    })
}
