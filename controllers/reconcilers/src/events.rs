//! Events: one for each commit, each refusal and each change of `Ready`.
//!
//! They are a courtesy to whoever runs `kubectl describe`: when too many wait, or the API server does not take
//! one, it is dropped and counted. Conditions and metrics are what counts. What branch writers report waits in
//! their own queue and is worded when its turn has come, so that a burst of commits does not push out what
//! reconcilers say.

use std::collections::VecDeque;
use std::time::Duration;

use branch::Occurrence;
use crds::GitTarget;
use k8s_openapi::api::core::v1::{Event, EventSource, ObjectReference};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::reflector::Store;
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::convert::conditions;
use crate::metrics::{Dropped, DroppedEvents};
use crate::place::Place;

/// How many Events of reconcilers may wait to be written.
const ROOM: usize = 1024;
/// How long one Event may take, so that a server that does not answer does not hold up the others.
const ONE_WRITE: Duration = Duration::from_secs(10);
/// How long what still waits may take when the process stops.
const LAST_WRITES: Duration = Duration::from_secs(5);
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
#[derive(Clone)]
pub(crate) struct Herald {
    news: mpsc::Sender<News>,
    dropped: DroppedEvents,
}

impl Herald {
    /// Creates a herald and the end that an [`EventWriter`] reads.
    pub(crate) fn new(dropped: DroppedEvents) -> (Self, mpsc::Receiver<News>) {
        let (news, receiver) = mpsc::channel(ROOM);
        (Self { news, dropped }, receiver)
    }

    /// Sends news without waiting; too many at once are dropped and counted.
    pub(crate) fn tell(&self, news: News) {
        if let Err(error) = self.news.try_send(news) {
            self.dropped.note(Dropped::TooManyWait);
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

/// Writes Events.
pub(crate) struct EventWriter {
    pub(crate) client: Client,
    /// The name of this process.
    pub(crate) instance: String,
    /// The GitTargets, to say whom an occurrence is about.
    pub(crate) git_targets: Store<GitTarget>,
    /// What reconcilers say.
    pub(crate) news: mpsc::Receiver<News>,
    /// What branch writers report.
    pub(crate) occurrences: mpsc::Receiver<Occurrence>,
    pub(crate) dropped: DroppedEvents,
    /// What was written last: the Event's name and how often it was counted.
    pub(crate) written: VecDeque<(News, String, i32)>,
}

impl EventWriter {
    /// Writes until the token is cancelled, and then what still waits, for a few seconds.
    pub(crate) async fn run(mut self, shutdown: CancellationToken) {
        let mut reported = true;
        loop {
            let news = tokio::select! { biased;
                () = shutdown.cancelled() => break,
                Some(news) = self.news.recv() => Some(news),
                occurrence = self.occurrences.recv(), if reported => {
                    reported = occurrence.is_some();
                    occurrence.and_then(|occurrence| self.word(&occurrence))
                }
            };
            if let Some(news) = news {
                self.write(news).await;
            }
        }
        let last = async {
            while let Some(news) = self.next_waiting() {
                self.write(news).await;
            }
        };
        if tokio::time::timeout(LAST_WRITES, last).await.is_err() {
            tracing::warn!("ending with Events that are not written");
        }
    }

    fn next_waiting(&mut self) -> Option<News> {
        if let Ok(news) = self.news.try_recv() {
            return Some(news);
        }
        while let Ok(occurrence) = self.occurrences.try_recv() {
            if let Some(news) = self.word(&occurrence) {
                return Some(news);
            }
        }
        None
    }

    /// Nobody hears about a GitTarget that is gone.
    fn word(&self, occurrence: &Occurrence) -> Option<News> {
        let target = match occurrence {
            Occurrence::Published { target, .. } | Occurrence::Refused { target, .. } => target,
        };
        let object = Place::from(target).find(&self.git_targets)?;
        Some(news_of(occurrence, object.object_ref(&())))
    }

    async fn write(&mut self, news: News) {
        let Some(namespace) = news.about.namespace.clone() else {
            return;
        };
        let known = self.written.iter().position(|(known, ..)| *known == news);
        let known = known.and_then(|index| self.written.remove(index));
        let api: Api<Event> = Api::namespaced(self.client.clone(), &namespace);
        let result = match tokio::time::timeout(ONE_WRITE, self.put(&api, &news, known)).await {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err("the API server does not answer".to_owned()),
        };
        match result {
            Ok((name, count)) => {
                self.written.push_back((news, name, count));
                while self.written.len() > REMEMBERED {
                    self.written.pop_front();
                }
            }
            Err(error) => {
                self.dropped.note(Dropped::NotTaken);
                tracing::debug!(%error, "an Event cannot be written");
            }
        }
    }

    /// Counts an Event that was written before, unless it has expired meanwhile.
    async fn put(
        &self,
        api: &Api<Event>,
        news: &News,
        known: Option<(News, String, i32)>,
    ) -> Result<(String, i32), kube::Error> {
        if let Some((_, name, count)) = known {
            match repeat(api, &name, count + 1).await {
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                result => return result.map(|()| (name, count + 1)),
            }
        }
        create(api, &self.instance, news)
            .await
            .map(|name| (name, 1))
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
    use board::metrics::Registrar;
    use model::{
        Actor, BranchName, CommitId, IssueKind, Location, Refusal, RefusalCode, RefusalScope,
        RepoPath, ResourceId, TargetKey, TypeId,
    };

    use super::*;

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
    fn a_refused_folder_names_the_issue_the_file_and_the_remedy() {
        let refusal = Refusal {
            code: RefusalCode::UnsupportedContent,
            issue: Some(IssueKind::InvalidYaml),
            scope: RefusalScope::Folder,
            object: None,
            at: Some(Location {
                path: RepoPath::new("apps/broken.yaml").unwrap(),
                line: Some(3),
                field: None,
            }),
            actor: Actor::Author,
            message: "the file does not parse".to_owned(),
            remedy: "mend the file, or list it in .gittargetignore".to_owned(),
        };
        let about = ObjectReference {
            kind: Some("GitTarget".to_owned()),
            ..ObjectReference::default()
        };
        let news = news_of(
            &Occurrence::Refused {
                target: target(),
                refusal,
            },
            about.clone(),
        );
        assert_eq!(
            (news.about, news.warning, news.reason.as_str()),
            (about, true, "UnsupportedContent")
        );
        assert_eq!(
            news.message,
            "invalid-yaml: apps/broken.yaml:3: the file does not parse; mend the file, or list it in \
             .gittargetignore"
        );
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let mut registrar = Registrar::new("test");
        let dropped = DroppedEvents::register(&mut registrar).unwrap();
        let (herald, _unread) = Herald::new(dropped);
        for _ in 0..ROOM + 2 {
            herald.tell(News {
                about: ObjectReference::default(),
                warning: false,
                reason: String::new(),
                message: String::new(),
            });
        }
        let families = registrar.finish().0.gather();
        let text = prometheus::TextEncoder::new()
            .encode_to_string(&families)
            .unwrap();
        assert!(text.contains("{cause=\"too_many_wait\"} 2"), "{text}");
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
