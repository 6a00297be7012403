//! Where a redirect may lead, and where the credential may go.

use reqwest::Url;

/// The most redirects in a row.
pub(super) const MOST_REDIRECTS: usize = 5;

/// The address of a repository, to which `/info/refs` and the services are appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base(Url);

impl Base {
    /// Takes a repository's URL without user, query and final slash.
    pub(super) fn new(mut url: Url) -> Self {
        // These fail only for URLs without a host, which `RepositoryUrl` does not let through.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.set_fragment(None);
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        Self(url)
    }

    /// Returns the address of one resource below the repository.
    pub(super) fn join(&self, below: &str) -> String {
        format!("{}/{below}", self.0.as_str().trim_end_matches('/'))
    }

    /// Says whether scheme, host and port are the same, so that a credential may be shown to both.
    pub(super) fn same_origin(&self, other: &Self) -> bool {
        self.0.scheme() == other.0.scheme()
            && self.0.host_str() == other.0.host_str()
            && self.0.port_or_known_default() == other.0.port_or_known_default()
    }

    /// Returns the base that a redirect of `below` leads to, or the rule that it breaks.
    pub(super) fn redirected(&self, below: &str, location: &str) -> Result<Self, &'static str> {
        let asked = Url::parse(&self.join(below)).map_err(|_| "its own address is not a URL")?;
        let target = asked
            .join(location)
            .map_err(|_| "its target is not a URL")?;
        match (self.0.scheme(), target.scheme()) {
            (_, "https") | ("http", "http") => {}
            ("https", "http") => return Err("it leads from https to http"),
            _ => return Err("its target is neither https nor http"),
        }
        let base = target
            .as_str()
            .strip_suffix(below)
            .and_then(|base| base.strip_suffix('/'))
            .ok_or("its target is not the same resource of another repository address")?;
        let base = Url::parse(base).map_err(|_| "its target is not a URL")?;
        Ok(Self::new(base))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BELOW: &str = "info/refs?service=git-upload-pack";

    fn base(url: &str) -> Base {
        Base::new(Url::parse(url).unwrap())
    }

    #[test]
    fn a_redirect_is_followed_by_the_rules() {
        let from = "https://git.example/team/app.git";
        let same = |host: &str| format!("https://{host}/x/app.git/{BELOW}");
        let cases: [(&str, String, Result<Base, &str>); 9] = [
            (
                from,
                same("git.example"),
                Ok(base("https://git.example/x/app.git")),
            ),
            (
                from,
                same("other.example"),
                Ok(base("https://other.example/x/app.git")),
            ),
            (
                from,
                format!("/y/app.git/{BELOW}"),
                Ok(base("https://git.example/y/app.git")),
            ),
            (
                from,
                same("me:pw@git.example"),
                Ok(base("https://git.example/x/app.git")),
            ),
            (
                "http://git.example/a",
                same("git.example"),
                Ok(base("https://git.example/x/app.git")),
            ),
            (
                from,
                format!("http://git.example/x/app.git/{BELOW}"),
                Err("it leads from https to http"),
            ),
            (
                from,
                format!("ftp://git.example/{BELOW}"),
                Err("its target is neither https nor http"),
            ),
            (
                from,
                "https://git.example/login?next=x".to_owned(),
                Err("its target is not the same resource of another repository address"),
            ),
            (
                from,
                "https://git.example/a/info/refs?service=git-receive-pack".to_owned(),
                Err("its target is not the same resource of another repository address"),
            ),
        ];
        for (from, location, expected) in cases {
            assert_eq!(
                base(from).redirected(BELOW, &location),
                expected,
                "{location}"
            );
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let here = base("https://git.example/a");
        assert!(here.same_origin(&base("https://git.example:443/b")));
        assert!(here.same_origin(&base("https://GIT.example/b")));
        for other in [
            "http://git.example/a",
            "https://git.example:8443/a",
            "https://example/a",
        ] {
            assert!(!here.same_origin(&base(other)), "{other}");
        }
    }

    #[test]
    fn user_query_and_final_slash_are_no_part_of_the_address() {
        assert_eq!(
            base("https://me@git.example:8443/a%20b/?x#y").join("git-upload-pack"),
            "https://git.example:8443/a%20b/git-upload-pack"
        );
    }
}
