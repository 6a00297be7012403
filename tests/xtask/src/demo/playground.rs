//! After the story: everything stays up, and each commit is shown as it comes.

use anyhow::Result;
use e2e::cluster::Cluster;
use e2e::stage::{GIT_PASSWORD, GIT_USER, REPOSITORY, Stage, TEAM};

use super::interrupt::Interrupt;
use super::story::{Editor, show_commits, tip};
use super::terminal::{entry, heading, say};

/// Between two looks at the branch, in pauses of the interrupt.
const LOOK_EVERY: usize = 10;

/// Tells a person how to play, and stays until they interrupt.
pub(super) fn stay_up<C: Cluster>(
    stage: &mut Stage<C>,
    editors: &[Editor; 2],
    views: bool,
    interrupt: &Interrupt,
) -> Result<()> {
    show_exports(stage, editors);
    show_suggestions(stage, views);
    heading("Up until Ctrl-C; each commit is shown here");
    let mut known = tip(stage)?;
    for pause in 1_usize.. {
        if interrupt.pause().is_err() {
            break;
        }
        if !pause.is_multiple_of(LOOK_EVERY) {
            continue;
        }
        stage.check_operator()?;
        let new = tip(stage)?;
        if new != known {
            show_commits(stage, &known, &new)?;
            known = new;
        }
    }
    Ok(())
}

fn show_exports<C: Cluster>(stage: &Stage<C>, editors: &[Editor; 2]) {
    heading("Play with it");
    if let Some(folder) = stage.admin.program().parent() {
        say(&format!("export PATH={}:$PATH", folder.display()));
    }
    let export = |path: &std::path::Path, who: &str| {
        say(&format!("export KUBECONFIG={}   # {who}", path.display()));
    };
    export(
        stage.control_plane.administrator().path(),
        "the administrator",
    );
    for editor in editors {
        let who = format!("{}, who may edit ConfigMaps of {TEAM}", editor.name);
        export(editor.kubeconfig.path(), &who);
    }
    let url =
        stage
            .git
            .url(REPOSITORY)
            .replacen("://", &format!("://{GIT_USER}:{GIT_PASSWORD}@"), 1);
    say("");
    say(&format!("git clone {url}"));
}

fn show_suggestions<C: Cluster>(stage: &Stage<C>, views: bool) {
    heading("Things to try");
    let suggestions = [
        (
            "as alice or bob",
            format!("kubectl edit configmap web -n {TEAM}"),
        ),
        (
            "",
            format!("kubectl create configmap mine -n {TEAM} --from-literal=colour=green"),
        ),
        (
            "in the clone",
            "move a document into another file, commit, push, then edit the object again"
                .to_owned(),
        ),
        (
            "as admin",
            format!("kubectl describe gittarget demo -n {TEAM}   # an Event for each commit"),
        ),
        ("", format!("kubectl get gittargets -n {TEAM} -o wide")),
    ];
    for (who, what) in &suggestions {
        entry(who, what);
    }
    if views {
        entry("", "kubectl get branchstatuses -A -o wide");
    }
    let metrics = format!("curl http://127.0.0.1:{}/metrics", stage.metrics_port);
    entry("anybody", &metrics);
    let log = stage.logs().join("operator-1.log");
    entry("", &format!("tail -f {}", log.display()));
}
