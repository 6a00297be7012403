//! Two operators that cannot see each other, with one folder of one branch between them.

use e2e::mirror::Mirror;
use e2e::stage::{FOLDER, REPOSITORY, Setting, Stage, TEAM};
use serde_json::json;
use testkit::relay::{Fate, Relay};
use testkit::{Repository, wait};

/// Each looks at a branch that it has nothing to write to.
const LOOKS: &str = "--git-refresh-interval=1s";

/// An operator in a cluster of its own.
struct Rival(Stage);

impl Rival {
    fn new() -> Self {
        let setting = Setting::default();
        let control_plane = setting.control_plane.clone().start().unwrap();
        let stage = Stage::prepare(&setting, control_plane).unwrap();
        stage.admin.run(&["create", "namespace", TEAM]).unwrap();
        Self(stage)
    }

    fn start(&mut self) {
        self.0.start_operator_with(&[LOOKS.to_owned()]).unwrap();
    }

    fn mirror(&self, url: &str) {
        let mirror = Mirror {
            idle_timeout: "100ms".to_owned(),
            ..Mirror::at(url)
        };
        self.0.start_mirror(&mirror).unwrap();
        self.0.wait_ready("demo").unwrap();
    }

    fn apply(&self, object: &str, value: &str) {
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": object, "namespace": TEAM}, "data": {"is": value},
        });
        self.0.admin.apply(&object.to_string()).unwrap();
    }
}

fn wait_value(repository: &Repository, object: &str, value: &str) {
    let path = format!("{FOLDER}/{TEAM}/configmaps/{object}.yaml");
    let line = format!("is: {value}\n");
    wait::until(format!("{line:?} in {path}"), wait::GENEROUS, || {
        let text = repository.file("main", &path).ok()?;
        text.contains(&line).then_some(())
    })
    .unwrap();
}

#[test]
fn b010_operators_that_cannot_see_each_other_do_not_answer_each_others_commits() {
    let mut rivals = [Rival::new(), Rival::new()];
    let [one, other] = &mut rivals;
    one.start();
    other.start();
    let url = one.0.git.url(REPOSITORY);
    // So that the looks of the other can be counted.
    let way = Relay::start(one.0.git.address(), |_| Fate::Pass);
    let repository = one.0.git.repository(REPOSITORY).unwrap();
    one.apply("shared", "one's");
    other.apply("shared", "other's");
    one.mirror(&url);
    wait_value(&repository, "shared", "one's");
    other.mirror(&way.url(&format!("{REPOSITORY}.git")));
    wait_value(&repository, "shared", "other's");
    // What each has seen of the other's commit is no reason to write.
    let quiet = |one: &Rival| {
        let commits = repository.commits("main").unwrap();
        let looks = || {
            let others = way.seen().len();
            (one.0.git.requests().len().saturating_sub(others), others)
        };
        let before = looks();
        wait::until("each to look several times", wait::GENEROUS, || {
            let now = looks();
            (now.0 >= before.0 + 4 && now.1 >= before.1 + 4).then_some(())
        })
        .unwrap();
        assert_eq!(repository.commits("main").unwrap(), commits);
    };
    quiet(one);
    // An edit of something else leaves the document as it is.
    one.apply("own", "first");
    wait_value(&repository, "own", "first");
    wait_value(&repository, "shared", "other's");
    // Who starts again states what its cluster holds, once.
    one.0.stop_operator().unwrap();
    one.start();
    wait_value(&repository, "shared", "one's");
    quiet(one);
    let commits = repository.commits("main").unwrap();
    assert_eq!(
        commits.len(),
        5,
        "the seed, two adoptions, an edit, a start"
    );
    for mut rival in rivals {
        rival.0.stop_operator().unwrap();
    }
}
