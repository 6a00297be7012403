//! References of images, taken apart as kustomize does.

/// A reference in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImageReference {
    pub(crate) name: String,
    /// The tag; an empty one is none.
    pub(crate) tag: Option<String>,
    /// The digest; an empty one is none.
    pub(crate) digest: Option<String>,
}

impl ImageReference {
    /// Takes a reference apart. A colon before the first slash belongs to the host.
    pub(crate) fn read(text: &str) -> Self {
        let path = text.find('/').unwrap_or(0);
        let find = |sign: char| text[path..].find(sign).map(|at| path + at);
        let (name, tag, digest) = match (find(':'), find('@')) {
            (None, None) => (text, "", ""),
            (Some(colon), None) => (&text[..colon], &text[colon + 1..], ""),
            (Some(colon), Some(at)) if colon < at => {
                (&text[..colon], &text[colon + 1..at], &text[at + 1..])
            }
            (_, Some(at)) => (&text[..at], "", &text[at + 1..]),
        };
        let part = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Self {
            name: name.to_owned(),
            tag: part(tag),
            digest: part(digest),
        }
    }

    /// Puts the parts together.
    pub(crate) fn write(&self) -> String {
        let mut text = self.name.clone();
        if let Some(tag) = &self.tag {
            text.push(':');
            text.push_str(tag);
        }
        if let Some(digest) = &self.digest {
            text.push('@');
            text.push_str(digest);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_taken_apart_as_kustomize_does() {
        for (text, name, tag, digest) in [
            ("nginx", "nginx", "", ""),
            ("nginx:1.2", "nginx", "1.2", ""),
            ("nginx@sha256:ab", "nginx", "", "sha256:ab"),
            ("nginx:1.2@sha256:ab", "nginx", "1.2", "sha256:ab"),
            ("host:5000/a/b", "host:5000/a/b", "", ""),
            ("host:5000/a/b:1@sha256:c", "host:5000/a/b", "1", "sha256:c"),
            ("host:5000/a@sha256:c", "host:5000/a", "", "sha256:c"),
            ("/a:1", "/a", "1", ""),
            ("nginx:", "nginx", "", ""),
            ("nginx:@sha256:ab", "nginx", "", "sha256:ab"),
            ("", "", "", ""),
        ] {
            let part = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            let expected = ImageReference {
                name: name.to_owned(),
                tag: part(tag),
                digest: part(digest),
            };
            assert_eq!(ImageReference::read(text), expected, "{text}");
        }
        let whole = "host:5000/a/b:1@sha256:c";
        assert_eq!(ImageReference::read(whole).write(), whole);
    }
}
