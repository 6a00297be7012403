//! What happens in the demo: a folder that a person wrote, and edits of two people that reach it.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use e2e::cluster::Cluster;
use e2e::stage::{FOLDER, Stage, TEAM};
use testkit::{Kubeconfig, Kubectl, wait};

use super::interrupt::Interrupt;
use super::terminal::{command, heading, quote, say, seconds};

/// The file that a person wrote, below the target's folder.
pub(super) const WRITTEN_FILE: &str = "apps/web.yaml";
/// What the person wrote.
pub(super) const WRITTEN: &str = "apiVersion: v1
kind: ConfigMap
metadata:
  name: web
  namespace: team-a
data:
  # How loud the service is; ask the on-call team before raising it.
  logLevel: info
  greeting: Good morning   # shown on the front page
";
/// What alice changes, and into what.
pub(super) const ALICES_EDIT: [&str; 2] = ["logLevel: info", "logLevel: debug"];
/// The file of the object that bob makes, below the target's folder.
pub(super) const BOBS_FILE: &str = "team-a/configmaps/flags.yaml";
const BOBS_EDIT: [&str; 2] = ["checkout: old", "checkout: new"];

/// Somebody who edits.
pub(super) struct Editor {
    pub(super) name: &'static str,
    pub(super) kubectl: Kubectl,
    pub(super) kubeconfig: Kubeconfig,
}

impl Editor {
    /// Gives a person the right to edit what is mirrored.
    pub(super) fn new<C: Cluster>(stage: &Stage<C>, name: &'static str) -> Result<Self> {
        let kubeconfig = stage.editor_kubeconfig(name)?;
        Ok(Self {
            name,
            kubectl: stage.control_plane.kubectl_of(&kubeconfig)?,
            kubeconfig,
        })
    }

    /// Opens an object in an editor that replaces one text by another.
    fn edit(&self, name: &str, [from, to]: [&str; 2]) -> Result<()> {
        command(
            self.name,
            &format!("kubectl edit configmap {name} -n {TEAM}    # `{from}` becomes `{to}`"),
        );
        let mut edit = self.kubectl.command();
        let output = edit
            .args(["edit", "configmap", name, "-n", TEAM])
            .env("KUBE_EDITOR", format!("sed -i 's/{from}/{to}/'"))
            .output()
            .context("cannot run kubectl")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "kubectl edit failed: {}",
            complaint.trim()
        );
        Ok(())
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        command(self.name, &format!("kubectl {}", arguments.join(" ")));
        self.kubectl.run(arguments).map(drop)
    }
}

/// The commits that the edits became.
pub(super) struct Told {
    /// The commit that the person's folder was written in.
    pub(super) seed: String,
    pub(super) edited_by_alice: String,
    pub(super) created_by_bob: String,
    pub(super) edited_by_bob: String,
    pub(super) deleted_by_bob: String,
}

/// Makes the edits, one after the other, and shows what each becomes.
pub(super) fn tell<C: Cluster>(
    stage: &mut Stage<C>,
    [alice, bob]: &[Editor; 2],
    interrupt: &Interrupt,
) -> Result<Told> {
    heading("A folder that a person wrote");
    say(&format!("{FOLDER}/{WRITTEN_FILE} on the branch main:"));
    say("");
    quote(WRITTEN);
    let seed = tip(stage)?;

    heading("alice edits it in the cluster");
    say("A commit window closes after 1 s of silence; pushes of a branch are at least 5 s apart.");
    let mut becomes = |edit: &dyn Fn() -> Result<()>| one_commit(stage, interrupt, edit);
    let edited_by_alice = becomes(&|| alice.edit("web", ALICES_EDIT))?;

    heading("bob makes an object, changes his mind twice");
    let literal = format!("--from-literal={}", BOBS_EDIT[0].replace(": ", "="));
    let created_by_bob =
        becomes(&|| bob.run(&["create", "configmap", "flags", "-n", TEAM, &literal]))?;
    let edited_by_bob = becomes(&|| bob.edit("flags", BOBS_EDIT))?;
    let deleted_by_bob = becomes(&|| bob.run(&["delete", "configmap", "flags", "-n", TEAM]))?;
    Ok(Told {
        seed,
        edited_by_alice,
        created_by_bob,
        edited_by_bob,
        deleted_by_bob,
    })
}

/// Waits until the target is Ready and, where there is one, says that this commit is in Git.
pub(super) fn wait_ready<C: Cluster>(
    stage: &mut Stage<C>,
    commit: &str,
    interrupt: &Interrupt,
) -> Result<String> {
    interrupt.until("the GitTarget to be Ready", wait::GENEROUS, || {
        stage.check_operator()?;
        let ready = |text: &String| text.contains("True") && text.contains(commit);
        Ok(stage.admin.run(&GET_TARGETS).ok().filter(ready))
    })
}

const GET_TARGETS: [&str; 4] = ["get", "gittargets", "-n", TEAM];
const GET_STATUSES: [&str; 5] = ["get", "branchstatuses", "-A", "-o", "wide"];

/// Shows what the cluster says of the mirror.
pub(super) fn show_status<C: Cluster>(
    stage: &mut Stage<C>,
    views: bool,
    interrupt: &Interrupt,
) -> Result<()> {
    heading("What the cluster says");
    let tip = tip(stage)?;
    let targets = wait_ready(stage, &tip[..7], interrupt)?;
    command("admin", &format!("kubectl {}", GET_TARGETS.join(" ")));
    quote(&targets);
    if !views {
        say("");
        say(
            "kubectl get branchstatuses needs the operator inside the cluster: the API server there",
        );
        say("cannot reach a process on this machine.");
        return Ok(());
    }
    let statuses = interrupt.until("the extension API to answer", wait::GENEROUS, || {
        stage.check_operator()?;
        Ok(stage.admin.run(&GET_STATUSES).ok())
    })?;
    command("admin", &format!("kubectl {}", GET_STATUSES.join(" ")));
    quote(&statuses);
    Ok(())
}

/// Prints the commits between two, the oldest first, as `git show` does.
pub(super) fn show_commits<C: Cluster>(stage: &Stage<C>, old: &str, new: &str) -> Result<()> {
    let range = format!("{old}..{new}");
    let commits = stage.repository.git(&["rev-list", "--reverse", &range])?;
    for commit in commits.lines() {
        command("git", &format!("show {}", &commit[..12]));
        quote(&stage.repository.git(&["show", commit])?);
    }
    Ok(())
}

/// Returns the newest commit.
pub(super) fn tip<C: Cluster>(stage: &Stage<C>) -> Result<String> {
    let tip = stage.repository.branch("main");
    tip.context("the branch main is gone")
}

/// Makes an edit, waits for the commit, shows it, and returns it.
fn one_commit<C: Cluster>(
    stage: &mut Stage<C>,
    interrupt: &Interrupt,
    edit: &dyn Fn() -> Result<()>,
) -> Result<String> {
    interrupt.check()?;
    let before = tip(stage)?;
    edit()?;
    let edited = Instant::now();
    let after = interrupt.until("the edit to be pushed", wait::GENEROUS, || {
        stage.check_operator()?;
        Ok(Some(tip(stage)?).filter(|tip| *tip != before))
    })?;
    say(&format!(
        "pushed {} after the edit",
        seconds(edited.elapsed())
    ));
    show_commits(stage, &before, &after)?;
    Ok(after)
}
