//! What is refused, by which name, and who can lift it.

use model::Actor;

use super::*;

#[test]
fn a4_2_every_field_that_is_not_modelled_is_refused_by_its_own_name() {
    for (field, value) in [
        ("buildMetadata", "[originAnnotations]"),
        ("components", "[../c]"),
        ("configurations", "[c.yaml]"),
        ("crds", "[c.json]"),
        ("generators", "[g.yaml]"),
        ("helmCharts", "[{name: x}]"),
        ("helmChartInflationGenerator", "[{chartName: x}]"),
        ("helmGlobals", "{chartHome: x}"),
        ("imageTags", "[{name: nginx, newTag: '1'}]"),
        ("namePrefix", "x-"),
        ("nameSuffix", "-x"),
        ("openapi", "{path: x.json}"),
        ("patchesJson6902", "[{path: p.yaml}]"),
        ("patchesStrategicMerge", "[p.yaml]"),
        ("replacements", "[{path: r.yaml}]"),
        ("secretGenerator", "[{name: s}]"),
        ("sortOptions", "{order: fifo}"),
        ("transformers", "[t.yaml]"),
        ("validators", "[v.yaml]"),
        ("vars", "[{name: X}]"),
    ] {
        let text = format!("resources: [r.yaml]\n{field}: {value}\n");
        let files = [
            ("app/kustomization.yaml", text.as_str()),
            ("app/r.yaml", CONFIG_MAP),
        ];
        let issues = refused(&files, "app");
        assert_eq!(told(&issues), [format!("{field} app/kustomization.yaml:2")]);
        assert_eq!(issues[0].actor, Actor::Nobody, "{field}");
        let refusal = issues[0].refusal();
        assert!(refusal.message.starts_with(field), "{refusal}");
        // An absent value says nothing.
        assert_eq!(
            of_one(&format!("{field}:\n"), CONFIG_MAP).len(),
            1,
            "{field}"
        );
    }
}

#[test]
fn a4_2_a_file_that_kustomize_would_not_read_is_refused_at_its_line() {
    for (text, line) in [
        ("", ""),
        ("# nothing\n", ""),
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n",
            ":1",
        ),
        ("namespace: ''\nresources:\n", ":1"),
        ("bases: []\n", ":1"),
        ("resources: []\napiVersion: v1\n", ":2"),
        ("resources: []\nkind: Deployment\n", ":2"),
        ("resources: []\n---\nkind: ConfigMap\n", ":3"),
        ("resources: []\nresources: []\n", ":2"),
        ("resources: []\n? namespace\n: x\n", ":2"),
        ("resources: []\nResources: []\n", ":2"),
        ("resources: []\nmetadata: {name: x, uid: y}\n", ":2"),
        ("resources: [1]\n", ":1"),
        ("resources:\n- ~\n", ":2"),
        ("resources: r.yaml\n", ":1"),
        ("resources: []\nnamespace: on\n", ":2"),
        ("resources: []\nnamespace: 5\n", ":2"),
        ("resources: []\ncommonLabels:\n  app: 5\n", ":3"),
        (
            "resources: []\nlabels:\n- pairs: {a: b}\n  includeSelectors: 'true'\n",
            ":4",
        ),
        ("resources: []\n<<: {namespace: x}\n", ":2"),
        ("resources: [\n", ":2"),
    ] {
        let issues = refused(&[("app/kustomization.yaml", text)], "app");
        let expected = format!("unparseable app/kustomization.yaml{line}");
        assert_eq!(told(&issues), [expected], "{text}");
        assert_eq!(issues[0].actor, Actor::Author);
    }
    // Its twins: an empty list is something, and a list may have an anchor.
    assert!(objects(&[("app/kustomization.yaml", "resources: []\n")]).is_empty());
    let anchored = "resources: &r []\nbases: *r\nmetadata: {name: x}\n";
    assert!(objects(&[("app/kustomization.yml", anchored)]).is_empty());
}

#[test]
fn a4_2_entries_without_a_meaning_are_refused() {
    for (text, expected) in [
        ("images: [{newTag: '1'}]", "images"),
        ("images: [{name: nginx, newTag: 1}]", "images"),
        ("images: [{name: nginx, newName: on}]", "images"),
        ("images: [{name: nginx, tagSuffix: x}]", "images"),
        ("images: [{name: 'ngin(x'}]", "images"),
        ("images: [{name: 'a**'}]", "images"),
        ("images: [{name: '[[a]b]'}]", "images"),
        ("images: [{name: '(?i)nginx'}]", "images"),
        ("images: [{name: 'a\\Qb'}]", "images"),
        ("images: {name: nginx}", "images"),
        ("replicas: [{count: 1}]", "replicas"),
        ("replicas: [{name: web, count: -1}]", "replicas"),
        ("replicas: [{name: web, count: 1.5}]", "replicas"),
        ("replicas: [{name: web, count: '1'}]", "replicas"),
        (
            "labels: [{pairs: {a: b}, fields: [{path: x}]}]",
            "labels.fields",
        ),
        ("patches: [{patch: '{}'}]", "patches-inline"),
        ("patches: [{patch: x, path: r.yaml}]", "unparseable"),
        ("patches: [{}]", "unparseable"),
        (
            "patches: [{path: r.yaml, target: {name: '['}}]",
            "unparseable",
        ),
        (
            "patches: [{path: r.yaml, target: {labelSelector: 'a in'}}]",
            "unparseable",
        ),
        (
            "patches: [{path: r.yaml, options: {allowNameChange: true}}]",
            "patches.options",
        ),
        ("patches: [{path: missing.yaml}]", "patches-outside-tree"),
        ("patches: [{path: ../../x.yaml}]", "patches-outside-tree"),
        (
            "configMapGenerator: [{name: x, literals: [a=b]}]",
            "configMapGenerator",
        ),
        (
            "generatorOptions: {disableNameSuffixHash: true}\nconfigMapGenerator: [{name: x, behavior: merge}]",
            "configMapGenerator",
        ),
    ] {
        let line = 2 + text.matches('\n').count();
        let expected = format!("{expected} app/kustomization.yaml:{line}");
        assert_eq!(refused_one(text, DEPLOYMENT), [expected], "{text}");
    }
}

#[test]
fn a4_2_a_list_of_operations_is_refused_as_one() {
    let files = |patch| {
        [
            (
                "app/kustomization.yaml",
                "resources: [r.yaml]\npatches: [{path: p.yaml, target: {kind: ConfigMap}}]\n",
            ),
            ("app/r.yaml", CONFIG_MAP),
            ("app/p.yaml", patch),
        ]
    };
    let operations = "- op: add\n  path: /data/x\n  value: y\n";
    let issues = refused(&files(operations), "app");
    assert_eq!(told(&issues), ["patches-json6902 app/p.yaml:1"]);
    let json = "[{\"op\": \"remove\", \"path\": \"/data\"}]";
    assert_eq!(refused(&files(json), "app")[0].actor, Actor::Nobody);
    assert_eq!(objects(&files(CONFIG_MAP)).len(), 1);
}

#[test]
fn a4_2_the_least_able_is_asked_for_all_of_a_file() {
    let text = "resources: [1]\nnamePrefix: x\nimages: [{newTag: '1'}]\n";
    let issues = refused(&[("app/kustomization.yaml", text)], "app");
    assert_eq!(
        told(&issues),
        [
            "unparseable app/kustomization.yaml:1",
            "namePrefix app/kustomization.yaml:2",
            "images app/kustomization.yaml:3",
        ]
    );
    assert!(issues.iter().all(|issue| issue.actor == Actor::Nobody));
}

#[test]
fn a4_2_nothing_is_ever_fetched() {
    for spelled in [
        "https://example.com/org/repo?ref=main",
        "https://example.com/r.yaml",
        "git@example.com:org/repo",
        "github.com/org/repo",
        "org/repo.git//sub",
        "host:org/repo",
    ] {
        let text = format!("resources:\n- {spelled}\n");
        let issues = refused(&[("app/kustomization.yaml", &text)], "app");
        assert_eq!(
            told(&issues),
            ["remote-base app/kustomization.yaml:2"],
            "{spelled}"
        );
        assert_eq!(issues[0].actor, Actor::Nobody);
    }
    // A folder of that name that is there is meant.
    let here = [
        ("app/kustomization.yaml", "resources: [repo.git]\n"),
        ("app/repo.git/kustomization.yaml", "resources: []\n"),
    ];
    assert!(objects(&here).is_empty());
}

#[test]
fn d28_all_three_names_are_read_and_two_of_them_refused() {
    for name in ["kustomization.yaml", "kustomization.yml", "Kustomization"] {
        let path = format!("app/{name}");
        let files = [
            (path.as_str(), "resources: [r.yaml]\n"),
            ("app/r.yaml", CONFIG_MAP),
        ];
        assert_eq!(objects(&files).len(), 1, "{name}");
    }
    let two = [
        ("app/kustomization.yaml", "resources: []\n"),
        ("app/Kustomization", "resources: []\n"),
    ];
    assert_eq!(
        told(&refused(&two, "app")),
        ["render-failed app/Kustomization:1"]
    );
}
