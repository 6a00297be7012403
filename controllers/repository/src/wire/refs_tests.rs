use super::*;

const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// Encodes lines; an empty one stands for a flush.
fn encoded(lines: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        if line.is_empty() {
            packet::write_flush(&mut bytes);
        } else {
            packet::write_data(&mut bytes, line.as_bytes());
        }
    }
    bytes
}

fn greeting(lines: &[&str]) -> Result<Greeting, RefsError> {
    read_greeting(encoded(lines).as_slice(), "git-receive-pack", 10)
}

fn refs(lines: &[&str]) -> (Advertisement, Capabilities) {
    match greeting(lines) {
        Ok(Greeting::Refs(refs, capabilities)) => (refs, capabilities),
        other => panic!("no refs: {other:?}"),
    }
}

fn branch(name: &str) -> BranchName {
    BranchName::new(name).unwrap()
}

#[test]
fn an_old_advertisement_is_read_with_or_without_its_announcement() {
    let first =
        format!("{A} HEAD\0report-status side-band-64k symref=HEAD:refs/heads/main agent=x\n");
    let lines = [
        first.clone(),
        format!("{A} refs/heads/main\n"),
        format!("{B} refs/tags/v1\n"),
        format!("{A} refs/tags/v1^{{}}\n"),
        format!("{B} .have\n"),
    ];
    let plain: Vec<&str> = lines.iter().map(String::as_str).chain([""]).collect();
    let announced: Vec<&str> = ["# service=git-receive-pack\n", ""]
        .into_iter()
        .chain(plain.clone())
        .collect();
    let version_1: Vec<&str> = ["version 1"].into_iter().chain(plain.clone()).collect();
    for lines in [plain, announced, version_1] {
        let (refs, capabilities) = refs(&lines);
        assert_eq!(refs.branch(&branch("main")).unwrap().as_str(), A);
        assert_eq!((refs.branches.len(), refs.other_refs), (1, 1));
        assert_eq!(refs.head, Some(Head::Branch(branch("main"))));
        assert!(capabilities.has("report-status") && capabilities.has("agent"));
        assert!(!capabilities.has("report") && !capabilities.has("atomic"));
    }
}

#[test]
fn an_empty_repository_has_no_refs() {
    let zero = "0".repeat(40);
    let line = format!("{zero} capabilities^{{}}\0report-status object-format=sha1\n");
    for lines in [vec![line.as_str(), ""], vec![""]] {
        let (refs, _) = refs(&lines);
        assert!(refs.is_empty(), "{refs:?}");
        assert_eq!(refs.head, None);
    }
    let sha256 = format!("{} capabilities^{{}}\0object-format=sha256", "0".repeat(64));
    assert_eq!(refs(&[&sha256, ""]).0.object_format, ObjectFormat::Sha256);
}

#[test]
fn a_head_without_a_name_is_detached() {
    let head = format!("{A} HEAD\0report-status");
    let main = format!("{B} refs/heads/main");
    let (refs, _) = refs(&[&head, &main, ""]);
    assert_eq!(refs.head, Some(Head::Detached(CommitId::new(A).unwrap())));
}

#[test]
fn protocol_2_names_capabilities_only() {
    let lines = [
        "version 2\n",
        "agent=git/2\n",
        "ls-refs=unborn\n",
        "object-format=sha256\n",
        "",
    ];
    let Ok(Greeting::Capabilities(capabilities)) = greeting(&lines) else {
        panic!("no capabilities");
    };
    assert_eq!(capabilities.value("ls-refs"), Some("unborn"));
    assert_eq!(capabilities.object_format().unwrap(), ObjectFormat::Sha256);
}

#[test]
fn ls_refs_tells_what_head_is() {
    let main = format!("{A} refs/heads/main");
    let symbolic = format!("{A} HEAD symref-target:refs/heads/main");
    let detached = format!("{B} HEAD");
    let unborn = "unborn HEAD symref-target:refs/heads/dev";
    let read = |lines: &[&str]| read_ls_refs(encoded(lines).as_slice(), ObjectFormat::Sha1, 10);
    let cases = [
        (
            vec![symbolic.as_str(), &main, ""],
            Some(Head::Branch(branch("main"))),
        ),
        (vec![unborn, &main, ""], Some(Head::Branch(branch("dev")))),
        (vec![unborn, ""], Some(Head::Branch(branch("dev")))),
        (
            vec![detached.as_str(), &main, ""],
            Some(Head::Detached(CommitId::new(B).unwrap())),
        ),
        (vec![""], None),
    ];
    for (lines, head) in cases {
        assert_eq!(read(&lines).unwrap().head, head, "{lines:?}");
    }
}

#[test]
fn a_hostile_advertisement_is_an_error() {
    let good = format!("{A} refs/heads/main\0report-status");
    let many: Vec<String> = (0..20).map(|n| format!("{A} refs/heads/b{n}")).collect();
    let many: Vec<&str> = [good.as_str()]
        .into_iter()
        .chain(many.iter().map(String::as_str))
        .chain([""])
        .collect();
    assert!(matches!(greeting(&many), Err(RefsError::TooMany)));
    let short_id = "abc refs/heads/main\0x".to_owned();
    let no_hex = format!("{} refs/heads/main\0x", "z".repeat(40));
    let no_name = format!("{A}\0x");
    let cases: [&[&str]; 7] = [
        &["# service=git-upload-pack", "", ""],
        &["# service=git-receive-pack", &good, ""],
        &["no capabilities", ""],
        &[&short_id, ""],
        &[&no_hex, ""],
        &[&no_name, ""],
        &[&good],
    ];
    for lines in cases {
        assert!(greeting(lines).is_err(), "{lines:?}");
    }
    let unknown_hash = format!("{A} refs/heads/main\0object-format=sha3");
    assert!(matches!(
        greeting(&[&unknown_hash, ""]),
        Err(RefsError::UnknownHash)
    ));
}

#[test]
fn no_byte_at_any_place_breaks_the_parsers() {
    let first = format!("{A} HEAD\0report-status symref=HEAD:refs/heads/main object-format=sha1");
    let main = format!("{A} refs/heads/main");
    let good = encoded(&["# service=git-receive-pack\n", "", &first, &main, ""]);
    let listed = encoded(&[
        &format!("{A} HEAD symref-target:refs/heads/main"),
        &main,
        "",
    ]);
    for good in [&good, &listed] {
        for place in 0..good.len() {
            for byte in [0, 1, b'\n', b' ', b'0', b'f', 0xff] {
                let mut bad = good.clone();
                bad[place] = byte;
                // Whatever comes out, it comes out, and it is within the limit.
                if let Ok(Greeting::Refs(refs, _)) =
                    read_greeting(bad.as_slice(), "git-receive-pack", 10)
                {
                    assert!(refs.branches.len() <= 10);
                }
                if let Ok(refs) = read_ls_refs(bad.as_slice(), ObjectFormat::Sha1, 10) {
                    assert!(refs.branches.len() <= 10);
                }
            }
        }
    }
}
