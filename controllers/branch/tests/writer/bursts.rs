//! Many edits at once with a window of zero: each has a commit of its own.

use testkit::{GitServer, Workbench};

use crate::history;
use crate::support::{Edit, Places, Writer};

/// Hands the edits over, one person after the other without a pause, and returns what the history says.
fn published(by_person: Vec<Vec<Edit>>) -> Vec<Edit> {
    let server = GitServer::start().unwrap();
    server
        .create_repository("platform")
        .unwrap()
        .seed(&[("README.md", "a platform\n")])
        .unwrap();
    let bench = Workbench::new("bursts").unwrap();
    let url = server.url("platform");
    let places = Places {
        data: bench.folder(),
        url: &url,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let writer = Writer::start(&places).await;
        let mut people = tokio::task::JoinSet::new();
        for edits in by_person {
            let handle = writer.handle.clone();
            people.spawn(async move {
                for edit in edits {
                    handle.offer(edit.delivery()).await.unwrap();
                }
            });
        }
        people.join_all().await;
        assert_eq!(writer.stop().await, 0);
    });
    history::edits(&server, "platform")
}

#[test]
fn five_hundred_edits_at_once_are_five_hundred_commits() {
    let by_person: Vec<Vec<Edit>> = ["alice", "bob"]
        .iter()
        .enumerate()
        .map(|(person, by)| {
            (0..250)
                .map(|n| Edit::new(by, format!("{by}-{n}"), person as u64 * 1_000 + n))
                .collect()
        })
        .collect();
    let mut wanted: Vec<_> = by_person.concat();
    wanted.sort();
    let mut found = published(by_person);
    found.sort();
    assert_eq!(found.len(), 500);
    assert_eq!(found, wanted);
}

#[test]
fn ten_edits_of_each_of_twenty_objects_are_two_hundred_commits_in_order() {
    let by_person: Vec<Vec<Edit>> = (0..20)
        .map(|object| {
            let by = if object % 2 == 0 { "alice" } else { "bob" };
            (0..10)
                .map(|n| Edit::new(by, format!("object-{object}"), object * 1_000 + n))
                .collect()
        })
        .collect();
    let mut wanted: Vec<_> = by_person.concat();
    wanted.sort();
    let found = published(by_person);
    let mut newest = std::collections::BTreeMap::new();
    for edit in &found {
        let before = newest.insert(edit.object.clone(), edit.number);
        assert!(before < Some(edit.number), "{edit:?} after {before:?}");
    }
    let mut sorted = found;
    sorted.sort();
    assert_eq!(sorted.len(), 200);
    assert_eq!(sorted, wanted);
}
