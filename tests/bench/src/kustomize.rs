//! What planning costs in folders that kustomize builds: one overlay over a base of growing size, and a repository of
//! many overlays of which one changes.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use manifests::{Folder, Intent, Mode, Policy, TypeCatalog};
use model::sanitize::sanitize;
use model::{
    DesiredObject, FilesInMemory, FolderPath, LiveObject, RepoPath, Sensitivity, ServedType, TypeId,
};

/// How many edits of one object are averaged.
const EDITS: u32 = 20;
/// How many objects each of many overlays has.
const FEW: usize = 5;

/// Overlays over bases of their own.
struct Repository {
    files: FilesInMemory,
    objects: usize,
}

pub(crate) fn run() -> Result<()> {
    println!("{:<44} {:>9} {:>10}", "kustomize", "objects", "ms");
    for objects in [10, 100, 500] {
        measure("one overlay", 1, objects)?;
    }
    measure("200 overlays", 200, FEW)
}

fn measure(what: &str, overlays: usize, objects: usize) -> Result<()> {
    let mut repository = Repository::new(overlays, objects)?;
    let policy = policy()?;
    let mut folder = Folder::new(policy.folder.clone());
    let start = Instant::now();
    let inspected = manifests::plan(
        &mut folder,
        repository.files.tree(),
        &[],
        &policy,
        Mode::Inspect,
        None,
    )?;
    anyhow::ensure!(inspected.folder.is_accepted(), "the folder is refused");
    repository.line(&format!("{what}: first scan and build"), start, 1);
    let start = Instant::now();
    for round in 0..EDITS {
        repository.set_image(&mut folder, &policy, round)?;
    }
    repository.line(&format!("{what}: one image changes"), start, EDITS);
    Ok(())
}

fn policy() -> Result<Policy> {
    let types = manifests::folder::built_in_types(&Sensitivity::default());
    let catalog = types.iter().collect::<TypeCatalog>();
    Ok(Policy::new(FolderPath::new("overlays")?, catalog))
}

impl Repository {
    fn new(overlays: usize, objects: usize) -> Result<Self> {
        let mut files = FilesInMemory::default();
        let mut put = |path: String, text: String| -> Result<()> {
            files.put(&RepoPath::new(path)?, text.into_bytes());
            Ok(())
        };
        let names = (0..objects).map(|at| format!("app-{at:03}.yaml"));
        put(
            "base/kustomization.yaml".to_owned(),
            format!("resources: [{}]\n", names.collect::<Vec<_>>().join(", ")),
        )?;
        for at in 0..objects {
            put(format!("base/app-{at:03}.yaml"), deployment(at, None, "1"))?;
        }
        for overlay in 0..overlays {
            let images = (0..objects).map(|at| format!("- name: app-{at:03}\n  newTag: '1'\n"));
            let text = format!(
                "namespace: team-{overlay}\nresources: [../../base]\nlabels: [{{pairs: {{team: t}}}}]\nimages:\n{}",
                images.collect::<String>()
            );
            put(format!("overlays/{overlay}/kustomization.yaml"), text)?;
        }
        Ok(Self {
            files,
            objects: overlays * objects,
        })
    }

    /// Plans an image of another tag and commits it.
    fn set_image(&mut self, folder: &mut Folder, policy: &Policy, round: u32) -> Result<()> {
        let tag = (round + 2).to_string();
        let object = live(&deployment(FEW - 1, Some("team-0"), &tag))?;
        let intents = [Intent::Upsert(object)];
        let tree = self.files.tree();
        let outcome = manifests::plan(folder, tree, &intents, policy, Mode::Apply, None)?;
        let edit = outcome.edits.first().context("nothing was edited")?;
        let manifests::FileContent::Plain(bytes) = &edit.content else {
            anyhow::bail!("the kustomization was not edited");
        };
        self.files.put(&edit.path, bytes.as_slice());
        Ok(())
    }

    fn line(&self, what: &str, start: Instant, times: u32) {
        let ms = start.elapsed().as_secs_f64() * 1000.0 / f64::from(times);
        println!("{what:<44} {:>9} {ms:>10.2}", self.objects);
    }
}

fn deployment(at: usize, namespace: Option<&str>, tag: &str) -> String {
    let metadata = match namespace {
        Some(namespace) => {
            format!("{{name: app-{at:03}, namespace: {namespace}, labels: {{team: t}}}}")
        }
        None => format!("{{name: app-{at:03}}}"),
    };
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {metadata}\nspec:\n  replicas: 2\n  selector:\n    matchLabels:\n      app: app-{at:03}\n  template:\n    metadata:\n      labels:\n        app: app-{at:03}\n    spec:\n      containers:\n        - name: app\n          image: app-{at:03}:{tag}\n          env:\n            - name: MODE\n              value: fast\n            - name: LEVEL\n              value: info\n          resources:\n            requests:\n              cpu: 100m\n              memory: 64Mi\n"
    )
}

fn live(text: &str) -> Result<Arc<DesiredObject>> {
    let mut values = manifests::yaml::values(text)?;
    let value = values.pop().context("a document")?;
    let served = ServedType {
        type_id: TypeId::new("apps", "deployments"),
        version: "v1".to_owned(),
        kind: "Deployment".to_owned(),
        namespaced: true,
        sensitive: false,
    };
    let live = LiveObject {
        served: Arc::new(served),
        value: value.as_object().context("a mapping")?.clone(),
    };
    let object = sanitize(&live).map_err(|_| anyhow::anyhow!("the object is left out"))?;
    Ok(Arc::new(object))
}
