//! Asks a cluster what it serves: two calls, however many groups it has.

use std::time::Duration;

use kube::Client;
use kube::core::discovery::v2::APIGroupDiscoveryList;

use super::scan::Scan;
use crate::fault::Fault;

/// Asks for everything. One half that answers is used without the other; both halves failing is a fault.
pub(crate) async fn scan(client: &Client, answer_limit: Duration) -> Result<Scan, Fault> {
    let core = within(answer_limit, client.list_core_api_versions_aggregated());
    let grouped = within(answer_limit, client.list_api_groups_aggregated());
    let (core, grouped) = futures::join!(core, grouped);
    match (core, grouped) {
        (Err(fault), Err(_)) => Err(fault),
        (core, grouped) => {
            let complete = core.is_ok() && grouped.is_ok();
            let halves = [core, grouped];
            let groups = halves.into_iter().flatten().flat_map(|list| list.items);
            Ok(Scan::read(groups, complete))
        }
    }
}

async fn within(
    limit: Duration,
    call: impl Future<Output = kube::Result<APIGroupDiscoveryList>>,
) -> Result<APIGroupDiscoveryList, Fault> {
    let answer = match tokio::time::timeout(limit, call).await {
        Ok(answer) => answer?,
        Err(_) => return Err(Fault::unavailable("the API server did not answer in time")),
    };
    if answer.items.is_empty() {
        // Older servers answer the same request in another form, of which nothing is left here. Taken at
        // its word it would say that the cluster serves nothing.
        return Err(Fault::unavailable(
            "the API server does not offer aggregated discovery (Kubernetes 1.30 or newer is needed)",
        ));
    }
    Ok(answer)
}
