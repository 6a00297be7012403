//! A control plane with the ten CRDs, and kubectl's answers as data.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use anyhow::{Context, Result};
use serde_json::Value;
use testkit::wait;
use testkit::{ControlPlane, Kubectl};

/// A control plane on which the CRDs are installed and served.
pub(crate) struct Cluster {
    pub(crate) kubectl: Kubectl,
    _control_plane: ControlPlane,
}

/// The cluster that the tests running at this moment share. Nobody keeps it longer: a static value would
/// never be dropped, and its programs never stopped.
static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());

impl Cluster {
    /// Returns the cluster of the other tests that run now, or starts one.
    pub(crate) fn shared() -> Result<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cluster) = shared.upgrade() {
            return Ok(cluster);
        }
        let cluster = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&cluster);
        Ok(cluster)
    }

    /// Starts one, and waits until every kind is served and explained.
    fn start() -> Result<Self> {
        let control_plane = ControlPlane::start()?;
        let kubectl = control_plane.as_admin()?;
        let crds = crds::all();
        let manifests: Vec<String> = crds.iter().map(crds::yaml::print).collect();
        kubectl.apply(&manifests.concat())?;
        kubectl.run(&[
            "wait",
            "crd",
            "--all",
            "--for=condition=Established",
            "--timeout=120s",
        ])?;
        for crd in &crds {
            let resource = format!("{}.{}", crd.spec.names.plural, crd.spec.group);
            wait::until_ok(
                format!("{resource} to be explained"),
                wait::GENEROUS,
                || kubectl.run(&["explain", &resource]),
            )?;
        }
        Ok(Self {
            kubectl,
            _control_plane: control_plane,
        })
    }

    /// Creates a namespace.
    pub(crate) fn namespace(&self, name: &str) -> Result<()> {
        self.kubectl.run(&["create", "namespace", name]).map(drop)
    }

    /// Gives many objects to one kubectl, which goes on after a refusal; returns the refusals by name.
    pub(crate) fn refusals(
        &self,
        arguments: &[&str],
        objects: &[Value],
    ) -> Result<BTreeMap<String, String>> {
        // JSON, because YAML cannot hold every character; a file, because kubectl answers while it still
        // reads, and both pipes could fill up.
        let mut file = tempfile::Builder::new().suffix(".json").tempfile()?;
        for object in objects {
            writeln!(file, "{object}")?;
        }
        let path = file.path().to_str().context("the path is UTF-8")?;
        let mut all = arguments.to_vec();
        all.extend(["-f", path]);
        let output = self.kubectl.output(&all)?;
        let stderr = String::from_utf8(output.stderr).context("kubectl prints UTF-8")?;
        let refusals: BTreeMap<_, _> = stderr.lines().filter_map(refusal).collect();
        let done = String::from_utf8_lossy(&output.stdout).lines().count();
        anyhow::ensure!(
            done + refusals.len() == objects.len(),
            "{} objects, {done} done, {} refused:\n{stderr}",
            objects.len(),
            refusals.len()
        );
        Ok(refusals)
    }
}

/// Finds the object's name and the API server's words in a line of kubectl's.
fn refusal(line: &str) -> Option<(String, String)> {
    const BEFORE_NAME: &str = ".configbutler.ai \"";
    let (_, rest) = line.split_once(BEFORE_NAME)?;
    let (name, rest) = rest.split_once('"')?;
    let words = rest.strip_prefix(" is invalid: ")?;
    Some((name.to_owned(), words.to_owned()))
}

/// Reads the one document of a data file.
pub(crate) fn data<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    let mut documents = crds::yaml::documents(text)?;
    anyhow::ensure!(
        documents.len() == 1,
        "the file has {} documents",
        documents.len()
    );
    Ok(serde_json::from_value(documents.remove(0))?)
}
