//! Kustomizations that are legal and look unusual.

use crate::support::changed_lines;
use crate::{ROOT, WEB, bare, config, folder, removal, web};

/// Goes through a life: a new object comes, is changed, goes again, and an image and a count change.
fn lives(root: &str) {
    let mut bed = folder(root);
    let start = bed.clone();
    assert_eq!(
        bed.mirror(&web(1, "nginx:1.0")),
        Vec::<String>::new(),
        "{root}"
    );
    assert_eq!(
        bed.mirror(&config("a", "x")),
        Vec::<String>::new(),
        "{root}"
    );
    bed.mirror(&config("new", "x"));
    assert_eq!(bed.text("apps/new.yaml"), bare("new", "x"), "{root}");
    assert_eq!(bed.mirror(&config("new", "z")).len(), 2, "{root}");
    assert_eq!(bed.mirror(&web(4, "nginx:2.0")).len(), 4, "{root}");
    assert_eq!(bed.mirror(&web(1, "nginx:1.0")).len(), 4, "{root}");
    bed.apply(&[removal("new")]);
    assert_eq!(changed_lines(&start, &bed), Vec::<String>::new(), "{root}");
}

#[test]
fn st_13_a_kustomization_lives_in_every_spelling() {
    for root in [
        "namespace: demo\nresources:\n- web.yaml\n- all.yaml\n",
        "namespace: demo\nresources:\n- web.yaml\n- all.yaml",
        "\u{feff}namespace: demo\nresources:\n- web.yaml\n- all.yaml\n",
        "---\nnamespace: demo\nresources:\n- web.yaml\n- all.yaml\n",
        "# head\n---\n# more\nnamespace: demo\nresources:\n- web.yaml\n- all.yaml\n...\n",
        "%YAML 1.1\n---\nnamespace: demo\nresources:\n- web.yaml\n- all.yaml\n",
        "namespace: demo\r\nresources:\r\n- web.yaml\r\n- all.yaml\r\n",
        "namespace: demo\nresources: [web.yaml, all.yaml]\n",
        "{namespace: demo, resources: [web.yaml, all.yaml]}\n",
        "{\"namespace\": \"demo\", \"resources\": [\"web.yaml\", \"all.yaml\"]}",
        "namespace: demo\nresources: [\n  web.yaml, # one\n  all.yaml, # two\n]\n",
        "namespace: demo\nresources:\n    - './web.yaml'\n    - \"./all.yaml\" # both\n",
        "namespace: demo\nresources:\n# one\n- web.yaml\n\n# two\n- ././all.yaml\n# end\n",
        "namespace: demo\nresources:\n- x/../web.yaml\n- all.yaml\n",
        "namespace: &n demo\nresources: &r\n- web.yaml\n- all.yaml\nmetadata: {name: *n}\n",
        "metadata: {name: &n demo}\nnamespace: *n\nresources:\n- web.yaml\n- all.yaml\n",
        "namespace: demo\nresources:\n- &w web.yaml\n- all.yaml\n",
        "namespace: demo\nbases: []\nresources:\n- web.yaml\n- all.yaml\n",
        "namespace: demo\n'resources':\n- web.yaml\n- all.yaml\n",
        "namespace: demo\nresources:\n- >-\n  web.yaml\n- all.yaml\n",
        "namespace: !!str demo\nresources:\n- web.yaml\n- !!str all.yaml\n",
    ] {
        lives(root);
    }
}

#[test]
fn dl_6_a_file_among_the_bases_goes_with_its_entry() {
    let mut bed = folder("namespace: demo\nbases: [all.yaml]\nresources: [web.yaml]\n");
    bed.apply(&[removal("a"), removal("b")]);
    assert_eq!(bed.find("apps/all.yaml"), None);
    assert_eq!(
        bed.text(ROOT),
        "namespace: demo\nbases: []\nresources: [web.yaml]\n"
    );
}

#[test]
fn st_13_entries_are_edited_in_every_spelling() {
    for (entries, tag) in [
        (
            "images:\n- name: nginx\n  newTag: '1.1'\nreplicas:\n- name: web\n  count: 2\n",
            "'1.2'",
        ),
        (
            "images: [{name: nginx, newTag: '1.1'}]\nreplicas: [{count: 2, name: web}]\n",
            "'1.2'",
        ),
        (
            "images:\r\n- newTag: \"1.1\"\r\n  name: nginx\r\nreplicas:\r\n- name: web\r\n  count: 2\r\n",
            "\"1.2\"",
        ),
        (
            "images:\n-   name: nginx\n    newTag: >-\n      1.1\nreplicas:\n  -\n    name: web\n    count: 2\n",
            "1.2",
        ),
        (
            "metadata: {name: &t '1.1'}\nimages:\n- name: nginx\n  newTag: *t\nreplicas:\n- &e {name: web, count: 2}\n",
            "1.2",
        ),
        (
            "images:\n- &i {name: nginx, newTag: &t '1.1'}\nreplicas:\n- name: web\n  count: 2\nmetadata: {name: *t}\n",
            "1.2",
        ),
    ] {
        let root = format!("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n{entries}");
        let mut bed = folder(&root);
        assert_eq!(
            bed.mirror(&web(2, "nginx:1.1")),
            Vec::<String>::new(),
            "{root}"
        );
        bed.mirror(&web(5, "nginx:1.2"));
        let text = bed.text(ROOT);
        assert!(text.contains(tag), "{text}");
        assert_eq!(bed.text("apps/web.yaml"), WEB);
        if entries.contains("metadata: {name: &t") {
            assert!(text.contains("&t '1.1'"), "{text}");
        }
    }
}

#[test]
fn st_11_a_new_file_is_listed_in_a_list_that_has_a_name() {
    for root in [
        "namespace: demo\nresources: &r\n- web.yaml\n- all.yaml\nvars: &v []\ncrds: *v\n",
        "namespace: demo\ncommonLabels: &l {}\ncommonAnnotations: *l\nresources: [web.yaml, all.yaml]\n",
    ] {
        let mut bed = folder(root);
        bed.mirror(&config("new", "x"));
        assert!(bed.text(ROOT).contains("new.yaml"));
    }
}

#[test]
fn pl_10_names_that_yaml_reads_otherwise_are_listed_as_they_are() {
    for (name, entry) in [
        ("system:node", "- system%3Anode.yaml"),
        ("x #y", "- 'x #y.yaml'"),
        ("- x", "- '- x.yaml'"),
        ("{x}", "- '{x}.yaml'"),
        ("&x", "- '&x.yaml'"),
        ("~", "- ~.yaml"),
        ("1e3", "- 1e3.yaml"),
        ("github.com", "- github.com.yaml"),
        ("git@x", "- git@x.yaml"),
        ("x?ref=1", "- x%3Fref=1.yaml"),
        ("kustomization", "- '%6Bustomization.yaml'"),
    ] {
        let role = format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: '{name}'}}\nrules: []\n"
        );
        let mut bed = folder("namespace: demo\nresources:\n- web.yaml\n- all.yaml\n");
        bed.mirror(&role);
        assert_eq!(bed.text(ROOT).lines().last(), Some(entry));
    }
}
