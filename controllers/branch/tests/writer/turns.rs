//! Branch writers of one host wait for each other before they speak with it, and take changes in meanwhile.

use std::sync::Arc;

use branch::Turns;
use model::RepositoryUrl;
use testkit::{GitServer, Workbench};

use crate::history;
use crate::support::{Edit, Places, Writer};

#[test]
fn a_writer_without_a_turn_accepts_changes_and_asks_the_host_nothing() {
    let server = GitServer::start().unwrap();
    server
        .create_repository("platform")
        .unwrap()
        .seed(&[("README.md", "a platform\n")])
        .unwrap();
    let bench = Workbench::new("turns").unwrap();
    let url = server.url("platform");
    let places = Places {
        data: bench.folder(),
        url: &url,
    };
    let turns = Arc::new(Turns::new(1, branch::turns::LONGEST));
    let at_host = turns.at_host_of(&RepositoryUrl::new(&url).unwrap().id());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let others = at_host.wait().await;
        let writer = Writer::start_among(&places, &turns).await;
        for number in 1..=3 {
            let edit = Edit::new("alice", "x", number);
            writer.handle.offer(edit.delivery()).await.unwrap();
        }
        assert_eq!(server.requests(), []);
        drop(others);
        assert_eq!(writer.stop().await, 0);
    });
    let numbers: Vec<_> = history::edits(&server, "platform")
        .iter()
        .map(|edit| edit.number)
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
}
