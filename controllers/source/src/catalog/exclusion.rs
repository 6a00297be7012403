//! Types that are never mirrored, whatever a rule names.
//!
//! Each of them is written by the cluster itself, many times a minute or on behalf of something else, so a
//! document of it could be neither meant nor kept.

use model::TypeId;

/// Group and plural resource name.
const NEVER_MIRRORED: &[(&str, &str)] = &[
    ("", "pods"),
    ("", "events"),
    ("", "endpoints"),
    ("events.k8s.io", "events"),
    ("discovery.k8s.io", "endpointslices"),
    ("coordination.k8s.io", "leases"),
    ("apps", "controllerrevisions"),
    ("flowcontrol.apiserver.k8s.io", "flowschemas"),
    (
        "flowcontrol.apiserver.k8s.io",
        "prioritylevelconfigurations",
    ),
    // A request to save is not state to keep.
    ("configbutler.ai", "commitrequests"),
];

/// Says whether the type is never mirrored.
pub fn is_excluded(type_id: &TypeId, excluded_groups: &[String]) -> bool {
    let id = (&*type_id.group, &*type_id.resource);
    NEVER_MIRRORED.contains(&id)
        || excluded_groups
            .iter()
            .any(|group| **group == *type_id.group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d21_what_a_person_means_is_not_excluded() {
        let ours = ["views.configbutler.ai".to_owned()];
        let excluded = |group, resource| is_excluded(&TypeId::new(group, resource), &ours);
        assert!(excluded("", "pods"));
        assert!(excluded("configbutler.ai", "commitrequests"));
        assert!(excluded("views.configbutler.ai", "branchstatuses"));
        for (group, resource) in [
            ("batch", "jobs"),
            ("batch", "cronjobs"),
            ("", "configmaps"),
            ("configbutler.ai", "gittargets"),
            ("metrics.k8s.io", "events"),
        ] {
            assert!(!excluded(group, resource), "{resource}.{group}");
        }
    }
}
