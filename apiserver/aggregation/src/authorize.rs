//! Decides whether a caller may do what it asks; what is not plain is asked of the cluster.
//!
//! The front proxy has already authorized the user, but a caller may come past it. Health is open to
//! everybody, static documents to every known user (they hold nobody's data, and discovery must not
//! depend on how the access reviews fare), administrators may do everything.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;

use crate::answer_cache::AnswerCache;
use crate::identity::{BearerToken, MASTERS, UserInfo};
use crate::list_options::ListOptions;
use crate::resource::{ApiGroup, Verb};
use crate::route::Route;
use crate::selector::{FieldSelector, LabelSelector};

/// What a caller wants to do, as an access review takes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Attributes {
    /// Something with a resource.
    Resource(Box<ResourceAttributes>),
    /// Something with a path.
    Path {
        /// The method, in lower case.
        verb: &'static str,
        /// The path.
        path: String,
    },
}

/// What a caller wants to do with a resource.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceAttributes {
    /// The verb.
    pub verb: &'static str,
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural name.
    pub resource: String,
    /// The namespace, unless all or none.
    pub namespace: Option<String>,
    /// The object's name, unless all.
    pub name: Option<String>,
    /// The label selector.
    pub labels: LabelSelector,
    /// The field selector.
    pub fields: FieldSelector,
}

impl ResourceAttributes {
    /// Describes a read. A list of one object by its name counts as one of that object, so that a
    /// role restricted to names allows it.
    pub fn of_read(group: &ApiGroup, route: &Route<'_>, options: &ListOptions) -> Option<Self> {
        let (resource, namespace, name, verb) = match route {
            Route::Object { resource, key } => (
                resource,
                key.namespace.clone(),
                Some(key.name.clone()),
                Verb::Get.as_str(),
            ),
            Route::Collection {
                resource,
                namespace,
            } => {
                let name = options.fields.required("metadata.name").map(str::to_owned);
                let verb = if options.watch {
                    "watch"
                } else {
                    Verb::List.as_str()
                };
                (resource, namespace.clone(), name, verb)
            }
            _ => return None,
        };
        Some(Self {
            verb,
            group: group.name().to_owned(),
            version: group.version().to_owned(),
            resource: resource.definition().plural.to_owned(),
            namespace,
            name,
            labels: options.labels.clone(),
            fields: options.fields.clone(),
        })
    }
}

/// The answer of an access review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Allowed,
    /// No, with the reviewer's words, which may be empty.
    Denied(String),
}

/// A review could not be made, which is not a no.
#[derive(Debug, thiserror::Error)]
#[error("cannot ask the cluster {question}")]
pub struct ReviewError {
    /// What was to be asked.
    pub question: &'static str,
    /// What went wrong.
    #[source]
    pub source: Box<dyn std::error::Error + Send + Sync>,
}

/// Answers whether a user may do something.
pub trait AccessReview: Send + Sync {
    /// Asks.
    fn review<'a>(
        &'a self,
        user: &'a UserInfo,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, ReviewError>>;
}

/// Answers whose token it is.
pub trait TokenReview: Send + Sync {
    /// Asks; `None` is a token that does not hold.
    fn review<'a>(
        &'a self,
        token: &'a BearerToken,
    ) -> BoxFuture<'a, Result<Option<UserInfo>, ReviewError>>;
}

/// Decides what needs no question: `None` means that one is needed.
pub fn decide_locally(user: &UserInfo, attributes: &Attributes) -> Option<Decision> {
    if user.is_in(MASTERS) {
        return Some(Decision::Allowed);
    }
    match attributes {
        Attributes::Path { .. } if !user.is_anonymous() => Some(Decision::Allowed),
        Attributes::Path { .. } | Attributes::Resource(_) => None,
    }
}

/// How long an answer is reused: short enough that a change of roles is felt at once by a person.
const REUSE: Duration = Duration::from_secs(10);
/// How many answers are kept.
const KEPT: usize = 8192;

/// Remembers the answers of an access review for a few seconds.
pub struct CachedAccess<R> {
    inner: R,
    // A lock, held for one map operation and never across an await: requests of all connections
    // share the answers.
    answers: Mutex<AnswerCache<(UserInfo, Attributes), Decision>>,
}

impl<R> CachedAccess<R> {
    /// Wraps a reviewer.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            answers: Mutex::new(AnswerCache::new(REUSE, KEPT)),
        }
    }
}

impl<R: AccessReview> AccessReview for CachedAccess<R> {
    fn review<'a>(
        &'a self,
        user: &'a UserInfo,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, ReviewError>> {
        Box::pin(async move {
            let key = (user.clone(), attributes.clone());
            if let Some(known) = lock(&self.answers).get(&key, Instant::now()) {
                return Ok(known);
            }
            let decision = self.inner.review(user, attributes).await?;
            lock(&self.answers).put(key, decision.clone(), Instant::now());
            Ok(decision)
        })
    }
}

/// Remembers the answers of a token review for a few seconds, by the token's digest.
pub struct CachedTokens<R> {
    inner: R,
    // A lock for the same reason as above.
    answers: Mutex<AnswerCache<[u8; 32], Option<UserInfo>>>,
}

impl<R> CachedTokens<R> {
    /// Wraps a reviewer.
    pub fn new(inner: R) -> Self {
        Self {
            inner,
            answers: Mutex::new(AnswerCache::new(REUSE, KEPT)),
        }
    }
}

impl<R: TokenReview> TokenReview for CachedTokens<R> {
    fn review<'a>(
        &'a self,
        token: &'a BearerToken,
    ) -> BoxFuture<'a, Result<Option<UserInfo>, ReviewError>> {
        Box::pin(async move {
            let key = token.digest();
            if let Some(known) = lock(&self.answers).get(&key, Instant::now()) {
                return Ok(known);
            }
            let user = self.inner.review(token).await?;
            lock(&self.answers).put(key, user.clone(), Instant::now());
            Ok(user)
        })
    }
}

/// A poisoned cache still holds nothing but answers that were true when they were written.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn user(name: &str, groups: &[&str]) -> UserInfo {
        UserInfo {
            name: name.to_owned(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            ..UserInfo::default()
        }
        .authenticated()
    }

    fn path() -> Attributes {
        Attributes::Path {
            verb: "get",
            path: "/apis".to_owned(),
        }
    }

    fn read(name: Option<&str>) -> Attributes {
        Attributes::Resource(Box::new(ResourceAttributes {
            verb: "list",
            group: "example.test".to_owned(),
            version: "v1".to_owned(),
            resource: "widgets".to_owned(),
            namespace: Some("a".to_owned()),
            name: name.map(str::to_owned),
            labels: LabelSelector::default(),
            fields: FieldSelector::default(),
        }))
    }

    #[test]
    fn only_what_is_plain_is_decided_without_a_question() {
        let allowed = Some(Decision::Allowed);
        let anonymous = user("system:anonymous", &["system:unauthenticated"]);
        assert_eq!(
            decide_locally(&user("system:aggregator", &[]), &path()),
            allowed
        );
        assert_eq!(decide_locally(&user("jane", &[]), &path()), allowed);
        assert_eq!(decide_locally(&user("jane", &[]), &read(None)), None);
        assert_eq!(
            decide_locally(&user("root", &[MASTERS]), &read(None)),
            allowed
        );
        assert_eq!(decide_locally(&anonymous, &path()), None);
        assert_eq!(decide_locally(&anonymous, &read(None)), None);
    }

    struct Counting(AtomicUsize);

    impl AccessReview for Counting {
        fn review<'a>(
            &'a self,
            user: &'a UserInfo,
            _: &'a Attributes,
        ) -> BoxFuture<'a, Result<Decision, ReviewError>> {
            let call = self.0.fetch_add(1, Ordering::SeqCst);
            let source = "no route".into();
            let answer = match user.name.as_str() {
                "jane" => Ok(Decision::Allowed),
                "flaky" if call == 0 => Err(ReviewError {
                    question: "for access",
                    source,
                }),
                _ => Ok(Decision::Denied(String::new())),
            };
            Box::pin(std::future::ready(answer))
        }
    }

    #[tokio::test]
    async fn answers_are_reused_and_failures_are_not() {
        let cached = CachedAccess::new(Counting(AtomicUsize::new(0)));
        let calls = |cached: &CachedAccess<Counting>| cached.inner.0.load(Ordering::SeqCst);
        assert!(
            cached
                .review(&user("flaky", &[]), &read(None))
                .await
                .is_err()
        );
        assert!(
            cached
                .review(&user("flaky", &[]), &read(None))
                .await
                .is_ok()
        );
        assert_eq!(calls(&cached), 2);
        for _ in 0..3 {
            assert_eq!(
                cached
                    .review(&user("jane", &[]), &read(None))
                    .await
                    .unwrap(),
                Decision::Allowed
            );
        }
        assert_eq!(calls(&cached), 3);
        cached
            .review(&user("jane", &[]), &read(Some("x")))
            .await
            .unwrap();
        cached
            .review(&user("jane", &["more"]), &read(None))
            .await
            .unwrap();
        assert_eq!(calls(&cached), 5);
    }
}
