use super::*;

fn rules(text: &str) -> IgnoreRules {
    IgnoreRules::parse(text).unwrap()
}

/// Says which of the files a text hides.
fn hidden<'a>(text: &str, files: &[&'a str]) -> Vec<&'a str> {
    let rules = rules(text);
    files
        .iter()
        .copied()
        .filter(|file| rules.is_ignored(file, false))
        .collect()
}

#[test]
fn sc_6_a_pattern_hides_files_as_git_does() {
    for (text, files, expected) in [
        (
            "docs/",
            vec!["docs/a.yaml", "docs", "x/docs/b.yaml"],
            vec!["docs/a.yaml", "x/docs/b.yaml"],
        ),
        ("/a.yaml", vec!["a.yaml", "x/a.yaml"], vec!["a.yaml"]),
        (
            "a.yaml",
            vec!["a.yaml", "x/a.yaml", "ba.yaml"],
            vec!["a.yaml", "x/a.yaml"],
        ),
        (
            "x/*.yaml",
            vec!["x/a.yaml", "x/y/a.yaml", "y/x/a.yaml"],
            vec!["x/a.yaml"],
        ),
        (
            "x/**/a.yaml",
            vec!["x/a.yaml", "x/y/z/a.yaml", "xa.yaml"],
            vec!["x/a.yaml", "x/y/z/a.yaml"],
        ),
        (
            "**/tmp",
            vec!["tmp/a", "x/tmp/a", "x/tmp"],
            vec!["tmp/a", "x/tmp/a", "x/tmp"],
        ),
        ("x/**", vec!["x/a", "x/y/a", "x"], vec!["x/a", "x/y/a"]),
        (
            "{a,b}.yaml",
            vec!["a.yaml", "{a,b}.yaml"],
            vec!["{a,b}.yaml"],
        ),
        (
            "[[:digit:]]?[!x].y",
            vec!["1ab.y", "1ax.y", "aab.y"],
            vec!["1ab.y"],
        ),
        (
            "\\#a\n\\!b\nc\\ \nd ",
            vec!["#a", "!b", "c ", "d", "d "],
            vec!["#a", "!b", "c ", "d"],
        ),
        (
            "[a\nb\\\n[[:nope:]]",
            vec!["[a", "b\\", "b", "a", "n"],
            vec![],
        ),
        (
            "a.yaml\r\nb.yaml\r\n",
            vec!["a.yaml", "b.yaml"],
            vec!["a.yaml", "b.yaml"],
        ),
        ("\u{feff}a.yaml", vec!["a.yaml"], vec!["a.yaml"]),
    ] {
        assert_eq!(hidden(text, &files), expected, "{text:?}");
    }
}

#[test]
fn sc_16_the_last_pattern_that_matches_decides() {
    let files = ["a.yaml", "old-a.yaml", "old-b.yaml"];
    assert_eq!(hidden("old-*\n!old-a.yaml", &files), ["old-b.yaml"]);
    assert_eq!(
        hidden("!old-a.yaml\nold-*", &files),
        ["old-a.yaml", "old-b.yaml"]
    );
}

#[test]
fn sc_5_nothing_below_a_hidden_folder_is_brought_back() {
    let files = ["old/a.yaml", "old/keep/b.yaml", "new/a.yaml"];
    assert_eq!(hidden("old/\n!old/a.yaml", &files), files[..2]);
    assert_eq!(hidden("old/*\n!old/a.yaml", &files), ["old/keep/b.yaml"]);
    let text = rules("# legacy\nold/\n!old/a.yaml\n");
    assert!(text.is_ignored("old", true));
    assert!(!text.is_ignored("old", false));
    let by = text.hidden_by("old/a.yaml", false).unwrap();
    assert_eq!((by.line, by.pattern), (2, "old/"));
}

#[test]
fn sc_16_a_pattern_that_hides_everything_makes_the_file_invalid() {
    for everything in ["*", "**", "/", "/*", "/**", "**/*", "?*", "[!.]*", "**/**"] {
        let problems = IgnoreRules::parse(&format!("# no\n\n{everything}\n!apps\n"));
        let problems = problems.expect_err(everything);
        assert_eq!(problems.len(), 1);
        assert_eq!(
            (problems[0].line, problems[0].pattern.as_str()),
            (3, everything)
        );
    }
    for yaml in [
        "*.yaml",
        "*.yml",
        "**/*.yaml",
        "**/*.yml",
        "*.y*",
        "*.y*ml",
        "*ml",
    ] {
        let problems = IgnoreRules::parse(yaml);
        let problems = problems.expect_err(yaml);
        assert!(
            problems[0].to_string().contains("every YAML file"),
            "{}",
            problems[0]
        );
    }
    let both = IgnoreRules::parse("*.yaml\ndocs/\n*.yml\n").unwrap_err();
    assert_eq!(
        both.iter().map(|problem| problem.line).collect::<Vec<_>>(),
        [1, 3]
    );
    for some in [
        "old-*.yaml",
        "docs/*.yaml",
        "/*.yaml",
        "*.json",
        "!*.yaml",
        "*/old",
        "*/**",
        "*.ya?ml",
        "a*",
    ] {
        assert!(IgnoreRules::parse(some).is_ok(), "{some}");
    }
}

#[test]
fn sc_17_comments_alone_are_like_no_file() {
    let comments = rules("# docs/\n\n   \n#a.yaml\r\n\n");
    assert_eq!(comments, IgnoreRules::default());
    assert!(!comments.is_ignored("docs/a.yaml", false));
}

#[test]
fn sc_6_a_path_has_a_pattern_that_hides_it_alone() {
    for (path, other) in [
        ("a/b.yaml", "c/a/b.yaml"),
        ("a*.yaml", "ab.yaml"),
        ("[x]?.yaml", "x1.yaml"),
        ("a\\b.yaml", "ab.yaml"),
        ("#a", "a"),
        ("!a", "a"),
        ("a ", "a"),
    ] {
        let rules = IgnoreRules::parse(&pattern_of(path)).unwrap();
        assert!(rules.is_ignored(path, false), "{path}");
        assert!(!rules.is_ignored(other, false), "{path}");
    }
}
