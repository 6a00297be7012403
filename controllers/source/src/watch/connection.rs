//! The connection to the API server: one collection's requests, and their answers as events.

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use kube::Client;
use kube::api::{ListParams, WatchParams};
use kube::core::Request;
use kube::core::WatchEvent as RawEvent;
use model::{Collection, Scope, ServedType};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::pace;
use super::session::{Opening, WatchEvent};
use crate::fault::Fault;
use crate::settings::Settings;

/// The annotation with which a server marks the bookmark behind the last initial event.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";
/// How many objects one page of a list holds.
const PAGE_SIZE: u32 = 500;

/// The events of one connection, in order; an error is the last item.
pub(crate) type EventStream = BoxStream<'static, Result<WatchEvent, Fault>>;

/// What a watch needs of an API server.
pub(crate) trait CollectionApi: Send + Sync + 'static {
    /// Opens a stream.
    fn watch(&self, opening: Opening) -> BoxFuture<'_, Result<EventStream, Fault>>;

    /// Reads one page of the collection. Only used where the server offers no initial events.
    fn list(&self, after: Option<String>) -> BoxFuture<'_, Result<Page, Fault>>;
}

/// One page of a collection.
#[derive(Default)]
pub(crate) struct Page {
    pub(crate) objects: Vec<Map<String, Value>>,
    pub(crate) resource_version: String,
    /// Where the next page begins, while there is one.
    pub(crate) next: Option<String>,
}

/// One collection of a real API server.
pub(crate) struct KubeCollection {
    client: Client,
    served: ServedType,
    path: String,
    selector: Option<String>,
    session_seconds: u32,
}

impl KubeCollection {
    pub(crate) fn new(
        client: Client,
        collection: &Collection,
        served: &ServedType,
        settings: &Settings,
    ) -> Self {
        let selects_all = collection.selector.selects_all();
        // Watches that start together must not all come back together.
        let share = 0.8 + 0.2 * pace::jitter(collection, 0);
        let session_limit = settings.session_limit.mul_f64(share);
        Self {
            client,
            served: served.clone(),
            path: path(collection, served),
            selector: (!selects_all).then(|| collection.selector.as_str().to_owned()),
            session_seconds: u32::try_from(session_limit.as_secs()).unwrap_or(u32::MAX),
        }
    }

    async fn open(&self, opening: Opening) -> Result<EventStream, Fault> {
        let (initial_events, from) = match opening {
            Opening::Replay => (true, String::new()),
            Opening::Resume { resource_version } => (false, resource_version),
        };
        let parameters = WatchParams {
            label_selector: self.selector.clone(),
            field_selector: None,
            timeout: Some(self.session_seconds),
            bookmarks: true,
            send_initial_events: initial_events,
        };
        let request = Request::new(&self.path).watch(&parameters, &from);
        let request = request.map_err(kube::Error::BuildRequest)?;
        let events = self.client.request_events(request).await?;
        Ok(events.map(read).boxed())
    }

    async fn page(&self, after: Option<String>) -> Result<Page, Fault> {
        let parameters = ListParams {
            label_selector: self.selector.clone(),
            limit: Some(PAGE_SIZE),
            continue_token: after,
            ..ListParams::default()
        };
        let request = Request::new(&self.path).list(&parameters);
        let request = request.map_err(kube::Error::BuildRequest)?;
        let list: List = self.client.request(request).await?;
        Ok(Page {
            resource_version: list.metadata.resource_version,
            next: Some(list.metadata.r#continue).filter(|token| !token.is_empty()),
            objects: list.items.into_iter().map(|item| self.name(item)).collect(),
        })
    }

    /// Objects in a list come without the type, which the list as a whole carries.
    fn name(&self, mut object: Map<String, Value>) -> Map<String, Value> {
        let named = [
            ("apiVersion", self.served.api_version()),
            ("kind", self.served.kind.clone()),
        ];
        for (key, value) in named {
            object.entry(key).or_insert(Value::String(value));
        }
        object
    }
}

impl CollectionApi for KubeCollection {
    fn watch(&self, opening: Opening) -> BoxFuture<'_, Result<EventStream, Fault>> {
        Box::pin(self.open(opening))
    }

    fn list(&self, after: Option<String>) -> BoxFuture<'_, Result<Page, Fault>> {
        Box::pin(self.page(after))
    }
}

fn read(event: kube::Result<RawEvent<Map<String, Value>>>) -> Result<WatchEvent, Fault> {
    match event? {
        RawEvent::Added(object) => Ok(WatchEvent::Added(object)),
        RawEvent::Modified(object) => Ok(WatchEvent::Modified(object)),
        RawEvent::Deleted(object) => Ok(WatchEvent::Deleted(object)),
        RawEvent::Bookmark(bookmark) => {
            let annotation = bookmark.metadata.annotations.get(INITIAL_EVENTS_END);
            Ok(WatchEvent::Bookmark {
                ends_initial_events: annotation.is_some_and(|value| value == "true"),
                resource_version: bookmark.metadata.resource_version,
            })
        }
        RawEvent::Error(status) => Err(Fault::from_status(&status)),
    }
}

fn path(collection: &Collection, served: &ServedType) -> String {
    let group = &collection.type_id.group;
    let root = if group.is_empty() {
        format!("/api/{}", served.version)
    } else {
        format!("/apis/{group}/{}", served.version)
    };
    let resource = &collection.type_id.resource;
    match &collection.scope {
        Scope::Cluster | Scope::AllNamespaces => format!("{root}/{resource}"),
        Scope::Namespace(namespace) => format!("{root}/namespaces/{namespace}/{resource}"),
    }
}

#[derive(Deserialize)]
struct List {
    metadata: ListMetadata,
    #[serde(default)]
    items: Vec<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    #[serde(default)]
    resource_version: String,
    #[serde(default)]
    r#continue: String,
}
