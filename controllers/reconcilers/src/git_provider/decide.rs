//! Which conditions a GitProvider has.

use std::time::Duration;

use crds::conditions::Reason;
use crds::git_provider::GitProviderStatus;
use policy::{ConditionSet, Verdict};

use super::observe::Observed;
use crate::convert::{conditions, times};
use crate::remote_access::AccessFault;
use crate::signing::SigningFault;

/// What follows.
#[derive(Debug, PartialEq)]
pub(super) struct Decision {
    pub(super) status: GitProviderStatus,
    pub(super) next: Duration,
}

pub(super) fn decide(observed: &Observed, steady: Duration, converging: Duration) -> Decision {
    let before = observed.object.status.clone().unwrap_or_default();
    let generation = observed.object.metadata.generation;
    let set = judge(observed);
    let mut status = GitProviderStatus {
        conditions: conditions::finish(&set, &before.conditions, generation, observed.now),
        observed_generation: generation,
        ..before
    };
    if let Some(request) = &observed.request {
        status.last_handled_reconcile_at = Some(request.clone());
    }
    let next = match &observed.proof {
        Ok(proof) => {
            if proof.result.is_ok() {
                status.last_verified_at = Some(times::time(proof.at));
            }
            // The Secret is read again soon while something is wrong, so a new one is found.
            proof
                .stands_for(steady, converging)
                .min(if proof.result.is_ok() {
                    steady
                } else {
                    converging
                })
        }
        Err(_) => converging,
    };
    let signing = observed.signing.as_ref();
    status.signing_public_key = signing.and_then(|signing| signing.as_ref().ok().cloned());
    let next = match signing {
        Some(Err(_)) => next.min(converging),
        Some(Ok(_)) | None => next,
    };
    Decision { status, next }
}

fn judge(observed: &Observed) -> ConditionSet {
    let mut set = ConditionSet::new("the repository can be read with this credential");
    match &observed.proof {
        Err(fault) => set.contribute(Verdict::Stalled, reason(fault).as_str(), fault.to_string()),
        Ok(proof) => {
            if let Err(fault) = &proof.result {
                let verdict = if fault.needs_change {
                    Verdict::Stalled
                } else {
                    Verdict::Progressing
                };
                set.contribute(
                    verdict,
                    Reason::ConnectionFailed.as_str(),
                    fault.message.as_str(),
                );
            }
        }
    }
    if let Some(Err(fault)) = &observed.signing {
        set.contribute(
            Verdict::Stalled,
            signing_reason(fault).as_str(),
            fault.to_string(),
        );
    }
    set
}

fn signing_reason(fault: &SigningFault) -> Reason {
    match fault {
        SigningFault::SecretNotFound(_) => Reason::SecretNotFound,
        SigningFault::KeyNotFound(_) | SigningFault::Unusable { .. } => Reason::SecretMalformed,
        SigningFault::BadReference | SigningFault::CannotMake { .. } => Reason::CommitConfigInvalid,
    }
}

fn reason(fault: &AccessFault) -> Reason {
    match fault {
        AccessFault::SecretNotFound(_) => Reason::SecretNotFound,
        AccessFault::SecretMalformed { .. } => Reason::SecretMalformed,
        AccessFault::HostKeys(_) | AccessFault::Url(_) => Reason::ConnectionFailed,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crds::GitProvider;
    use serde_json::json;

    use super::*;
    use crate::place::Place;
    use crate::proof::{Proof, ProofFault};

    const STEADY: Duration = Duration::from_secs(300);
    const CONVERGING: Duration = Duration::from_secs(10);

    fn provider(extra: serde_json::Value) -> GitProvider {
        let mut object = json!({
            "apiVersion": "configbutler.ai/v1alpha3", "kind": "GitProvider",
            "metadata": {"name": "p", "namespace": "ns", "generation": 3},
            "spec": {"url": "https://git.example.com/o/r.git"},
        });
        for (key, value) in extra.as_object().unwrap() {
            object[key] = value.clone();
        }
        serde_json::from_value(object).unwrap()
    }

    fn observed(proof: Result<Result<(), ProofFault>, AccessFault>) -> Observed {
        let proof =
            proof.map(|result| Proof::after(None, "a".to_owned(), 1_761_038_042_000, result));
        Observed {
            object: Arc::new(provider(json!({}))),
            now: 1_761_038_050_000,
            proof,
            signing: None,
            request: None,
        }
    }

    fn summary(observed: &Observed) -> String {
        let decision = decide(observed, STEADY, CONVERGING);
        let of = |type_: &str| {
            let found = decision
                .status
                .conditions
                .iter()
                .find(|condition| condition.type_ == type_);
            found.unwrap().status.clone()
        };
        let reason = &conditions::ready(&decision.status.conditions)
            .unwrap()
            .reason;
        format!(
            "{}/{}/{} {reason} {}s",
            of("Ready"),
            of("Reconciling"),
            of("Stalled"),
            decision.next.as_secs()
        )
    }

    #[test]
    fn each_fault_says_what_it_is_and_is_looked_at_again_soon() {
        let fault = |needs_change| ProofFault {
            message: "m".to_owned(),
            needs_change,
        };
        let secret = Place::named("ns", "git-creds").unwrap();
        let malformed = AccessFault::SecretMalformed {
            secret: secret.clone(),
            problem: "p".to_owned(),
        };
        for (proof, expected) in [
            (Ok(Ok(())), "True/False/False Succeeded 300s"),
            (
                Ok(Err(fault(false))),
                "False/True/False ConnectionFailed 10s",
            ),
            (
                Ok(Err(fault(true))),
                "False/False/True ConnectionFailed 10s",
            ),
            (
                Err(AccessFault::SecretNotFound(secret)),
                "False/False/True SecretNotFound 10s",
            ),
            (Err(malformed), "False/False/True SecretMalformed 10s"),
            (
                Err(AccessFault::Url("u".to_owned())),
                "False/False/True ConnectionFailed 10s",
            ),
            (
                Err(AccessFault::HostKeys("h".to_owned())),
                "False/False/True ConnectionFailed 10s",
            ),
        ] {
            assert_eq!(summary(&observed(proof)), expected);
        }
    }

    #[test]
    fn a_failure_leaves_the_last_success_where_it_was() {
        let mut look = observed(Ok(Ok(())));
        let proved = decide(&look, STEADY, CONVERGING).status;
        assert_eq!(
            proved.last_verified_at,
            Some(times::time(1_761_038_042_000))
        );
        let object = provider(json!({"status": proved}));
        let fault = ProofFault {
            message: "m".to_owned(),
            needs_change: false,
        };
        look.proof = Ok(Proof::after(
            None,
            "a".to_owned(),
            1_762_000_000_000,
            Err(fault),
        ));
        look.object = Arc::new(object);
        let failed = decide(&look, STEADY, CONVERGING).status;
        assert_eq!(failed.last_verified_at, proved.last_verified_at);
    }

    #[test]
    fn a_key_is_published_and_each_of_its_faults_says_what_it_is() {
        let secret = || Place::named("ns", "signing").unwrap();
        let key = "ssh-ed25519 AAAA".to_owned();
        let unusable = SigningFault::Unusable {
            secret: secret(),
            entry: "signing.key",
            problem: "p".to_owned(),
        };
        let forbidden = SigningFault::CannotMake {
            secret: secret(),
            problem: "p".to_owned(),
        };
        for (signing, expected) in [
            (Ok(key.clone()), "True/False/False Succeeded 300s"),
            (
                Err(SigningFault::SecretNotFound(secret())),
                "False/False/True SecretNotFound 10s",
            ),
            (
                Err(SigningFault::KeyNotFound(secret())),
                "False/False/True SecretMalformed 10s",
            ),
            (Err(unusable), "False/False/True SecretMalformed 10s"),
            (Err(forbidden), "False/False/True CommitConfigInvalid 10s"),
        ] {
            let mut look = observed(Ok(Ok(())));
            // What an earlier key left behind.
            look.object = Arc::new(provider(json!({"status": {"signingPublicKey": "old"}})));
            let published = signing.as_ref().ok().cloned();
            look.signing = Some(signing);
            assert_eq!(summary(&look), expected);
            let status = decide(&look, STEADY, CONVERGING).status;
            assert_eq!(status.signing_public_key, published);
        }
    }

    #[test]
    fn a_request_is_answered() {
        let mut look = observed(Ok(Ok(())));
        look.request = Some("now".to_owned());
        let status = decide(&look, STEADY, CONVERGING).status;
        assert_eq!(status.last_handled_reconcile_at.as_deref(), Some("now"));
        assert_eq!(status.observed_generation, Some(3));
    }
}
