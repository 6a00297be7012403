//! The values files that documents of a folder name for Helm, so that they have a role there (SC-13).

use model::RepoPath;
use serde_json::Value;

/// Returns the files of the repository that an Argo CD `Application` or a Flux `HelmRelease` takes values from.
/// Files of a chart that comes from elsewhere, and addresses, are none.
pub(crate) fn values_files(document: &Value) -> Vec<RepoPath> {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
    let group = text("/apiVersion").and_then(|version| version.split_once('/'));
    let files = match (group, text("/kind")) {
        (Some(("argoproj.io", _)), Some("Application")) => of_application(document),
        (Some(("helm.toolkit.fluxcd.io", _)), Some("HelmRelease")) => of_release(document),
        _ => return Vec::new(),
    };
    files.into_iter().flatten().collect()
}

fn of_application(document: &Value) -> Vec<Option<RepoPath>> {
    let spec = &document["spec"];
    let several = spec["sources"].as_array().into_iter().flatten();
    let sources = several.chain(spec.get("source"));
    let files = sources.flat_map(|source| {
        let names = source.pointer("/helm/valueFiles").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        names.map(|name| of_source(source, name))
    });
    files.collect()
}

/// Resolves a name: against another source where it begins with a reference, against the root of the repository
/// where it begins with a slash, and otherwise against the path of its source.
fn of_source(source: &Value, name: &str) -> Option<RepoPath> {
    if name.contains("://") {
        return None;
    }
    if let Some(named) = name.strip_prefix('$') {
        return resolve("", named.split_once('/')?.1);
    }
    if let Some(from_root) = name.strip_prefix('/') {
        return resolve("", from_root);
    }
    resolve(source["path"].as_str()?, name)
}

fn of_release(document: &Value) -> Vec<Option<RepoPath>> {
    let chart = &document["spec"]["chart"]["spec"];
    if chart["sourceRef"]["kind"] == "HelmRepository" {
        return Vec::new();
    }
    let names = chart["valuesFiles"].as_array().into_iter().flatten();
    let names = names.filter_map(Value::as_str);
    names.map(|name| resolve("", name)).collect()
}

/// Joins two paths, and follows the steps to a parent. What leaves the repository is nothing.
fn resolve(folder: &str, name: &str) -> Option<RepoPath> {
    let mut parts = Vec::new();
    for part in folder.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    RepoPath::new(parts.join("/")).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(document: &Value) -> Vec<String> {
        let files = values_files(document);
        files.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn sc_13_both_appliers_name_files_in_their_own_way() {
        let application = |spec: Value| json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "spec": spec});
        let files = json!([
            "values.yaml",
            "../prod.yaml",
            "/root.yaml",
            "https://x/y.yaml"
        ]);
        let one = json!({"path": "charts/web", "helm": {"valueFiles": files}});
        assert_eq!(
            named(&application(json!({"source": one}))),
            ["charts/web/values.yaml", "charts/prod.yaml", "root.yaml"]
        );
        let several = json!([
            {"chart": "web", "helm": {"valueFiles": ["$ours/envs/prod.yaml", "in-the-chart.yaml"]}},
            {"ref": "ours"},
            {"path": ".", "helm": {"valueFiles": ["../../outside.yaml", "here.yaml"]}},
        ]);
        assert_eq!(
            named(&application(json!({"sources": several}))),
            ["envs/prod.yaml", "here.yaml"]
        );
        let release = |source: &str| {
            let chart =
                json!({"sourceRef": {"kind": source}, "valuesFiles": ["./a.yaml", "b/c.yaml"]});
            json!({"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease", "spec": {"chart": {"spec": chart}}})
        };
        assert_eq!(named(&release("GitRepository")), ["a.yaml", "b/c.yaml"]);
        assert_eq!(named(&release("HelmRepository")), [""; 0]);
        let mut other = release("GitRepository");
        other["apiVersion"] = json!("example.com/v2");
        assert_eq!(named(&other), [""; 0]);
    }
}
