//! Conditions of a status, in the form of Kubernetes and in the form of `policy`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1 as kubernetes;
use policy::conditions::READY;
use policy::{Condition, ConditionSet, ConditionStatus};

use crate::convert::times;
use model::Millis;

/// Merges the decided conditions with those that the status holds.
pub(crate) fn finish(
    set: &ConditionSet,
    published: &[kubernetes::Condition],
    generation: Option<i64>,
    now: Millis,
) -> Vec<kubernetes::Condition> {
    let previous: Vec<Condition> = published.iter().map(from_kubernetes).collect();
    let now = times::text(now);
    let finished = set.finish(&previous, generation.unwrap_or_default(), &now);
    finished.into_iter().map(to_kubernetes).collect()
}

/// Returns the `Ready` condition of a status.
pub(crate) fn ready(published: &[kubernetes::Condition]) -> Option<&kubernetes::Condition> {
    published.iter().find(|condition| condition.type_ == READY)
}

/// Says whether a status says that its object is Ready.
pub(crate) fn is_ready(published: &[kubernetes::Condition]) -> bool {
    ready(published).is_some_and(|condition| condition.status == ConditionStatus::True.as_str())
}

/// Returns what an object says about itself when it is not Ready, for a message of its dependants.
pub(crate) fn own_words(published: &[kubernetes::Condition]) -> String {
    match ready(published) {
        Some(condition) => format!("{}: {}", condition.reason, condition.message),
        None => "it has not been looked at yet".to_owned(),
    }
}

fn from_kubernetes(condition: &kubernetes::Condition) -> Condition {
    let status = match condition.status.as_str() {
        "True" => ConditionStatus::True,
        "False" => ConditionStatus::False,
        _ => ConditionStatus::Unknown,
    };
    Condition {
        type_: condition.type_.clone(),
        status,
        reason: condition.reason.clone(),
        message: condition.message.clone(),
        observed_generation: condition.observed_generation.unwrap_or_default(),
        last_transition_time: condition.last_transition_time.0.to_string(),
    }
}

fn to_kubernetes(condition: Condition) -> kubernetes::Condition {
    kubernetes::Condition {
        type_: condition.type_,
        status: condition.status.as_str().to_owned(),
        reason: condition.reason,
        message: condition.message,
        observed_generation: Some(condition.observed_generation),
        last_transition_time: times::parse(&condition.last_transition_time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_that_does_not_change_is_the_same_after_the_round_trip() {
        let set = ConditionSet::new("fine");
        let first = finish(&set, &[], Some(1), 1_761_038_042_000);
        assert!(is_ready(&first));
        assert_eq!(finish(&set, &first, Some(1), 1_761_999_999_000), first);
        assert_eq!(own_words(&first), "Succeeded: fine");
        assert_eq!(own_words(&[]), "it has not been looked at yet");
    }
}
