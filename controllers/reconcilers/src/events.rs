//! Events: one for each commit, each refusal and each change of `Ready`.
//!
//! They are a courtesy to whoever runs `kubectl describe`: when too many come at once, or the API server
//! does not take one, it is dropped with a line in the log. Conditions and metrics are what counts.

use std::collections::VecDeque;

use branch::Occurrence;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::convert::conditions;

/// How many Events may wait to be written.
const ROOM: usize = 256;
/// How many Events are remembered, so that a repeated one is counted instead of written anew.
const REMEMBERED: usize = 256;
/// The longest message that is written; the API server takes 1024 bytes.
const LONGEST_MESSAGE: usize = 1000;
/// Who reports.
const COMPONENT: &str = "gitops-reverser";

/// What people should hear about one object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct News {
    pub(crate) about: ObjectReference,
    /// Whether somebody should look.
    pub(crate) warning: bool,
    pub(crate) reason: String,
    pub(crate) message: String,
}

/// Sends news. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Herald(mpsc::Sender<News>);

impl Herald {
    /// Creates a herald and the end that [`write`] reads.
    pub(crate) fn new() -> (Self, mpsc::Receiver<News>) {
        let (sender, receiver) = mpsc::channel(ROOM);
        (Self(sender), receiver)
    }

    /// Sends news without waiting; too many at once are dropped.
    pub(crate) fn tell(&self, news: News) {
        if let Err(error) = self.0.try_send(news) {
            tracing::debug!(%error, "an Event is dropped");
        }
    }

    /// Reports a change of `Ready` after it was written.
    pub(crate) fn ready_changed<K: Resource<DynamicType = ()>>(
        &self,
        object: &K,
        before: &[Condition],
        after: &[Condition],
    ) {
        let Some(news) = news_of_ready(object, before, after) else {
            return;
        };
        self.tell(news);
    }
}

fn news_of_ready<K: Resource<DynamicType = ()>>(
    object: &K,
    before: &[Condition],
    after: &[Condition],
) -> Option<News> {
    let now = conditions::ready(after)?;
    if conditions::ready(before).is_some_and(|before| before.status == now.status) {
        return None;
    }
    Some(News {
        about: object.object_ref(&()),
        warning: now.status != "True",
        reason: now.reason.clone(),
        message: now.message.clone(),
    })
}

/// Words what a branch writer reports about a target.
pub(crate) fn news_of(occurrence: &Occurrence, about: ObjectReference) -> News {
    match occurrence {
        Occurrence::Published {
            commit,
            branch,
            subject,
            objects,
            count,
            ..
        } => {
            let mut shown: Vec<String> = objects.iter().take(5).map(ToString::to_string).collect();
            if *count > shown.len() {
                shown.push(format!("and {} more", count - shown.len()));
            }
            News {
                about,
                warning: false,
                reason: "Committed".to_owned(),
                message: format!(
                    "commit {} on {branch} ({subject}): {}",
                    commit.short(),
                    shown.join(", ")
                ),
            }
        }
        Occurrence::Refused { refusal, .. } => {
            let object = refusal
                .object
                .as_ref()
                .map(|id| format!("{id}: "))
                .unwrap_or_default();
            News {
                about,
                warning: true,
                reason: refusal.code.as_str().to_owned(),
                message: format!("{object}{refusal}"),
            }
        }
    }
}

/// Writes Events until the token is cancelled.
pub(crate) async fn write(
    client: Client,
    instance: String,
    mut news: mpsc::Receiver<News>,
    shutdown: CancellationToken,
) {
    let mut written: VecDeque<(News, String, i32)> = VecDeque::new();
    loop {
        let item = tokio::select! { biased;
            () = shutdown.cancelled() => return,
            item = news.recv() => item,
        };
        let Some(item) = item else {
            return;
        };
        let Some(namespace) = item.about.namespace.clone() else {
            continue;
        };
        let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
        let known = written.iter().position(|(known, ..)| *known == item);
        let result = match known.and_then(|index| written.remove(index)) {
            Some((item, name, count)) => repeat(&api, &name, count + 1)
                .await
                .map(|()| (item, name, count + 1)),
            None => create(&api, &instance, &item)
                .await
                .map(|name| (item, name, 1)),
        };
        match result {
            Ok(entry) => {
                written.push_back(entry);
                while written.len() > REMEMBERED {
                    written.pop_front();
                }
            }
            Err(error) => tracing::debug!(%error, "an Event cannot be written"),
        }
    }
}

async fn create(api: &Api<Event>, instance: &str, news: &News) -> Result<String, kube::Error> {
    let event = event(news, instance, Time(jiff::Timestamp::now()));
    Ok(api.create(&PostParams::default(), &event).await?.name_any())
}

async fn repeat(api: &Api<Event>, name: &str, count: i32) -> Result<(), kube::Error> {
    let patch = json!({"count": count, "lastTimestamp": Time(jiff::Timestamp::now())});
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .map(|_| ())
}

fn event(news: &News, instance: &str, now: Time) -> Event {
    let mut message = news.message.clone();
    if message.len() > LONGEST_MESSAGE {
        let end = (0..=LONGEST_MESSAGE)
            .rev()
            .find(|end| message.is_char_boundary(*end))
            .unwrap_or(0);
        message.truncate(end);
        message.push('…');
    }
    Event {
        metadata: ObjectMeta {
            generate_name: news
                .about
                .name
                .as_ref()
                .map(|name| format!("{}.", shortened(name))),
            namespace: news.about.namespace.clone(),
            ..ObjectMeta::default()
        },
        involved_object: news.about.clone(),
        type_: Some(if news.warning { "Warning" } else { "Normal" }.to_owned()),
        reason: Some(news.reason.clone()),
        message: Some(message),
        count: Some(1),
        first_timestamp: Some(now.clone()),
        last_timestamp: Some(now),
        source: Some(EventSource {
            component: Some(COMPONENT.to_owned()),
            host: Some(instance.to_owned()),
        }),
        reporting_component: Some(COMPONENT.to_owned()),
        reporting_instance: Some(instance.to_owned()),
        ..Event::default()
    }
}

/// Leaves room for what the API server adds to a name.
fn shortened(name: &str) -> &str {
    name.get(..200).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use model::{
        Actor, BranchName, CommitId, Refusal, RefusalCode, RefusalScope, ResourceId, TargetKey,
        TypeId,
    };

    use super::*;
    use crate::place::Place;

    fn target() -> TargetKey {
        TargetKey::from(&Place::named("team-a", "apps").unwrap())
    }

    fn config_map(name: &str) -> ResourceId {
        ResourceId {
            type_id: TypeId::new("", "configmaps"),
            namespace: Some(target().namespace),
            name: model::ObjectName::new(name).unwrap(),
        }
    }

    #[test]
    fn a_commit_names_itself_its_branch_and_its_objects() {
        let news = news_of(
            &Occurrence::Published {
                target: target(),
                commit: CommitId::new("0123456789abcdef0123456789abcdef01234567").unwrap(),
                branch: BranchName::new("main").unwrap(),
                subject: "chore: sync 7 resources".to_owned(),
                objects: (0..6)
                    .map(|number| config_map(&format!("c{number}")))
                    .collect(),
                count: 7,
            },
            ObjectReference::default(),
        );
        assert!(!news.warning);
        assert_eq!(
            news.message,
            "commit 0123456789ab on main (chore: sync 7 resources): configmaps team-a/c0, configmaps \
             team-a/c1, configmaps team-a/c2, configmaps team-a/c3, configmaps team-a/c4, and 2 more"
        );
    }

    #[test]
    fn a_refusal_names_the_object_the_reason_and_the_remedy() {
        let refusal = Refusal {
            code: RefusalCode::EncryptionNotConfigured,
            issue: None,
            scope: RefusalScope::Object,
            object: Some(config_map("x")),
            at: None,
            actor: Actor::Platform,
            message: "a sensitive object needs encryption".to_owned(),
            remedy: "set spec.encryption".to_owned(),
        };
        let news = news_of(
            &Occurrence::Refused {
                target: target(),
                refusal,
            },
            ObjectReference::default(),
        );
        assert_eq!(
            (news.warning, news.reason.as_str()),
            (true, "EncryptionNotConfigured")
        );
        assert!(
            news.message.starts_with("configmaps team-a/x: "),
            "{}",
            news.message
        );
        assert!(
            news.message.ends_with("set spec.encryption"),
            "{}",
            news.message
        );
    }

    #[test]
    fn only_a_flip_of_ready_is_news() {
        let condition = |status: &str, reason: &str| Condition {
            type_: "Ready".to_owned(),
            status: status.to_owned(),
            reason: reason.to_owned(),
            message: String::new(),
            observed_generation: None,
            last_transition_time: Time(jiff::Timestamp::UNIX_EPOCH),
        };
        let object = k8s_openapi::api::core::v1::ConfigMap::default();
        let news = |before: &[Condition], after: Condition| {
            news_of_ready(&object, before, &[after]).map(|news| (news.warning, news.reason))
        };
        assert_eq!(
            news(&[], condition("True", "Succeeded")),
            Some((false, "Succeeded".to_owned()))
        );
        let failing = [condition("False", "A")];
        assert_eq!(news(&failing, condition("False", "B")), None);
        assert_eq!(
            news(&failing, condition("True", "Succeeded")),
            Some((false, "Succeeded".to_owned()))
        );
        let fine = [condition("True", "Succeeded")];
        assert_eq!(
            news(&fine, condition("False", "A")),
            Some((true, "A".to_owned()))
        );
    }

    #[test]
    fn a_long_message_is_cut_at_a_character() {
        let news = News {
            about: ObjectReference::default(),
            warning: false,
            reason: "A".to_owned(),
            message: "ä".repeat(1000),
        };
        let event = event(&news, "pod", Time(jiff::Timestamp::UNIX_EPOCH));
        assert!(event.message.unwrap().len() <= 1024);
    }
}
