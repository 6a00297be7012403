//! What a stage needs of a cluster, whether we started it or somebody else did.

use std::time::Duration;

use anyhow::Result;
use testkit::{ControlPlane, Kubeconfig, Kubectl, Person};

/// How long the operator's token is valid: longer than anybody plays with a demo.
const TOKEN_LIFETIME: Duration = Duration::from_secs(86_400);

/// A cluster that hands out identities.
pub trait Cluster {
    /// Returns the kubeconfig of somebody who may install the product.
    fn administrator(&self) -> &Kubeconfig;

    /// Returns kubectl in the hands of the user of that kubeconfig.
    fn kubectl_of(&self, kubeconfig: &Kubeconfig) -> Result<Kubectl>;

    /// Writes a kubeconfig of a ServiceAccount, which has to exist.
    fn workload(&self, namespace: &str, service_account: &str) -> Result<Kubeconfig>;

    /// Writes a kubeconfig of a person without rights of their own.
    fn newcomer(&self, name: &str) -> Result<Kubeconfig>;
}

impl Cluster for ControlPlane {
    fn administrator(&self) -> &Kubeconfig {
        self.admin()
    }

    fn kubectl_of(&self, kubeconfig: &Kubeconfig) -> Result<Kubectl> {
        self.kubectl(kubeconfig)
    }

    fn workload(&self, namespace: &str, service_account: &str) -> Result<Kubeconfig> {
        self.service_account(namespace, service_account, Some(TOKEN_LIFETIME))
    }

    fn newcomer(&self, name: &str) -> Result<Kubeconfig> {
        self.person(&Person::named(name))
    }
}

impl<C: Cluster> Cluster for &C {
    fn administrator(&self) -> &Kubeconfig {
        (**self).administrator()
    }

    fn kubectl_of(&self, kubeconfig: &Kubeconfig) -> Result<Kubectl> {
        (**self).kubectl_of(kubeconfig)
    }

    fn workload(&self, namespace: &str, service_account: &str) -> Result<Kubeconfig> {
        (**self).workload(namespace, service_account)
    }

    fn newcomer(&self, name: &str) -> Result<Kubeconfig> {
        (**self).newcomer(name)
    }
}
