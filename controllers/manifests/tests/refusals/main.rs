//! Every reason for which a folder, or an object in it, is refused: a case that triggers it, and beside it the
//! smallest change that lets the same object land.
//!
//! `row` is the shape of a case and how it is judged; `folder`, `document`, `place` and `sealed` are the cases of plain
//! folders, `kustomize`, `unbuilt` and `built` those of folders that are built. A code that no case shows fails the
//! test, unless it is the business of another part of the product.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test reports a failure by panicking, and this one prints its table"
)]

mod built;
mod document;
mod folder;
mod kustomize;
mod place;
mod row;
mod sealed;
#[path = "../support/mod.rs"]
mod support;
mod unbuilt;

use std::collections::BTreeSet;

use manifests::{Mode, Placement};
use model::{IssueKind, RefusalCode, Sensitivity};
use row::Row;

fn rows() -> Vec<Row> {
    let parts = [
        folder::rows(),
        document::rows(),
        place::rows(),
        sealed::rows(),
        kustomize::rows(),
        unbuilt::rows(),
        built::rows(),
    ];
    parts.into_iter().flatten().collect()
}

#[test]
fn a4_1_every_refusal_of_a_folder_has_its_case_and_an_accepted_twin() {
    let mut codes = BTreeSet::new();
    let mut issues = BTreeSet::new();
    let mut reasons = BTreeSet::new();
    println!("{}", row::HEAD);
    for row in rows() {
        println!("{}", row.prove());
        assert!(reasons.insert(row.reason.clone()), "twice: {}", row.reason);
        codes.insert(row.code);
        issues.extend(row.issue);
    }
    for code in RefusalCode::ALL {
        let elsewhere = other_home_of_code(*code);
        assert_eq!(
            codes.contains(code),
            elsewhere.is_none(),
            "{code}: {elsewhere:?}"
        );
    }
    for issue in IssueKind::ALL {
        let elsewhere = other_home_of_issue(*issue);
        assert_eq!(
            issues.contains(issue),
            elsewhere.is_none(),
            "{issue}: {elsewhere:?}"
        );
    }
}

/// Says where a code is at home that no folder is refused by. A new code has to be decided here.
fn other_home_of_code(code: RefusalCode) -> Option<&'static str> {
    match code {
        RefusalCode::UnsupportedContent
        | RefusalCode::IgnoreShadowsManagedPath
        | RefusalCode::WriteBoundaryRefused
        | RefusalCode::MultipleSourceNamespaces
        | RefusalCode::RenderDoesNotMatchLive
        | RefusalCode::EncryptionNotConfigured
        | RefusalCode::InvalidPath
        | RefusalCode::SensitiveAppend
        | RefusalCode::PlaintextOntoEncrypted
        | RefusalCode::MixedSensitivityNewFile
        | RefusalCode::MultiDocumentTarget
        | RefusalCode::AmbiguousLayout
        | RefusalCode::UnrenderedPlacement => None,
        RefusalCode::UnknownType => Some("the offline commands"),
        RefusalCode::NamespaceNotAuthorized
        | RefusalCode::BranchNotAllowed
        | RefusalCode::SourceNamespaceNotAllowed
        | RefusalCode::ClusterResourceNotAllowed
        | RefusalCode::ApplierNamespaceNotAllowed => Some("grants"),
    }
}

/// Says where an issue is at home that no folder is refused by.
fn other_home_of_issue(issue: IssueKind) -> Option<&'static str> {
    match issue {
        IssueKind::DuplicateIdentity
        | IssueKind::ImpureManagedFile
        | IssueKind::NonKrmYaml
        | IssueKind::InvalidYaml
        | IssueKind::MixedManagedAllowlisted
        | IssueKind::UnsupportedKustomize
        | IssueKind::ForeignFile
        | IssueKind::ForeignSymlink
        | IssueKind::ForeignSubmodule
        | IssueKind::IgnoreShadowsManaged
        | IssueKind::RenderDoesNotMatchLive
        | IssueKind::NonEditableDocument
        | IssueKind::PlaintextSensitive
        | IssueKind::WriteEscapesScope
        | IssueKind::WriteFanIn
        | IssueKind::OrphansBuildEntry
        | IssueKind::KustomizeRenderRefused
        | IssueKind::UnplaceableEdit => None,
        IssueKind::UnresolvedKrm | IssueKind::OutOfScope => Some("the offline commands"),
    }
}

/// A declaration of placement that is refused as a whole, and one that is not.
struct Declaration {
    key: &'static str,
    refused: &'static str,
    says: &'static str,
    twin: &'static str,
}

const fn declaration(
    key: &'static str,
    refused: &'static str,
    says: &'static str,
    twin: &'static str,
) -> Declaration {
    Declaration {
        key,
        refused,
        says,
        twin,
    }
}

/// What the condition `Validated` names, with the field and the template.
const DECLARATIONS: [Declaration; 12] = [
    declaration(
        "v1/configmaps",
        "{kind}/{what}.yaml",
        "what",
        "{kind}/{name}.yaml",
    ),
    declaration(
        "v1/configmaps",
        "{name|x}.yaml",
        "|",
        "{namespace|x}/{name}.yaml",
    ),
    declaration(
        "v1/configmaps",
        "{label:team|..}/{name}.yaml",
        "..",
        "{label:team|x}/{name}.yaml",
    ),
    declaration(
        "v1/configmaps",
        "{label:team|a/b}/{name}.yaml",
        "a/b",
        "{label:team|a-b}/{name}.yaml",
    ),
    declaration(
        "v1/configmaps",
        "{label:kro.run/x}/{name}.yaml",
        "kro.run/x",
        "{label:x}/{name}.yaml",
    ),
    declaration(
        "v1/configmaps",
        "/{name}.yaml",
        "/{name}.yaml",
        "{name}.yaml",
    ),
    declaration("v1/configmaps", "../{name}.yaml", "..", "x/{name}.yaml"),
    declaration("v1/configmaps", "{name}.json", ".yaml", "{name}.yml"),
    declaration("v1/configmaps", "{name.yaml", "{name.yaml", "{name}.yaml"),
    declaration(
        "v1/secrets",
        "{namespace}/all.sops.yaml",
        "{name}",
        "{namespace}/{name}.sops.yaml",
    ),
    declaration(
        "v1/secrets",
        "{name}.sops.yaml",
        "{namespace}",
        "{namespace}-{name}.sops.yaml",
    ),
    declaration(
        "",
        "all.yaml",
        "secrets",
        "{namespace}/{group}/{resource}/{name}.yaml",
    ),
];

#[test]
fn pl_13_pl_14_every_fault_of_a_declaration_has_its_case_and_an_accepted_twin() {
    let read = |case: &Declaration, template: &'static str| {
        let secrets = Sensitivity::default();
        match case.key {
            "" => Placement::read([], Some(template), None, &secrets),
            key => Placement::read([(key, template)], None, None, &secrets),
        }
    };
    for case in &DECLARATIONS {
        let problems = read(case, case.refused).unwrap_err();
        let field = match case.key {
            "" => "spec.placement.default".to_owned(),
            key => format!("spec.placement.byType[{key}]"),
        };
        println!("{:<40} {:<36} {}", field, case.refused, problems[0].message);
        assert!(
            problems.iter().all(|problem| problem.field == field),
            "{problems:?}"
        );
        assert!(
            problems
                .iter()
                .any(|problem| problem.message.contains(case.says)),
            "{problems:?}"
        );
        let twin = read(case, case.twin);
        assert!(twin.is_ok(), "{}: {twin:?}", case.twin);
    }
}

/// A file that is larger than what is read cannot be made in memory, so the reader says it.
#[test]
fn a4_1_a_file_that_is_too_large_is_refused_by_its_name() {
    struct Large<'a>(&'a model::FilesInMemory);
    impl model::Contents for Large<'_> {
        fn read(&self, id: &model::ContentId) -> Result<model::Content, model::ReadError> {
            match model::Contents::read(self.0, id)? {
                model::Content::Bytes(bytes) if bytes.len() > 1000 => {
                    Ok(model::Content::TooLarge { size: 1 << 40 })
                }
                content => Ok(content),
            }
        }
    }
    for (lines, accepted) in [(200, false), (2, true)] {
        let bed = support::Bed::new().with("apps/long.yaml", &"# a line\n".repeat(lines));
        let tree = model::FileTree {
            files: &bed.files.files,
            contents: &Large(&bed.files),
        };
        let mut folder = manifests::Folder::new(bed.policy.folder.clone());
        let outcome = manifests::plan(&mut folder, tree, &[], &bed.policy, Mode::Inspect, None);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.folder.is_accepted(), accepted);
        for issue in outcome.folder.issues() {
            assert_eq!(issue.issue, Some(IssueKind::InvalidYaml));
            assert_eq!(issue.at.as_ref().unwrap().path.as_str(), "apps/long.yaml");
        }
    }
}

/// A folder beyond what is read, made of one content that is no text, so that nothing has to be parsed.
#[test]
fn a4_1_a_folder_that_is_too_large_is_refused_by_its_largest_file() {
    for (count, accepted) in [(17, false), (15, true)] {
        let mut bed = support::Bed::new();
        let first = support::path_of("apps/f0.yaml");
        bed.files.put(&first, vec![0xff_u8; 16 << 20]);
        let entry = bed.files.files.get(&first).unwrap().clone();
        for index in 1..count {
            bed.put_entry(&format!("apps/f{index}.yaml"), entry.clone());
        }
        let outcome = bed.plan(&[], Mode::Inspect);
        let issues = outcome.folder.issues();
        let mut large = issues
            .iter()
            .filter(|issue| issue.issue == Some(IssueKind::ForeignFile));
        assert_eq!(large.next().is_none(), accepted, "{issues:?}");
        assert!(large.next().is_none(), "{issues:?}");
    }
}
